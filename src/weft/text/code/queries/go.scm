; The root captures are those of python.scm. `owner` is the receiver type of a method, `self` the receiver.
(ERROR) @error
(comment) @comment
(type_declaration (type_spec name: (type_identifier) @name type: [(struct_type) (interface_type)]) @class)
(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration name: (identifier) @self type: [(type_identifier) @owner (pointer_type (type_identifier) @owner) (generic_type type: (type_identifier) @owner) (pointer_type (generic_type type: (type_identifier) @owner))])) name: (field_identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration !name type: [(type_identifier) @owner (pointer_type (type_identifier) @owner)])) name: (field_identifier) @name) @function
(block (statement_list (_) @break))

(call_expression function: (identifier) @call)
(call_expression function: (selector_expression operand: (identifier)) @call)
(import_spec name: [(package_identifier) (dot)] @alias path: (_) @path) @import
(import_spec !name path: (_) @path) @import

(parameter_declaration name: (identifier) @bind)
(parameter_declaration name: (identifier) @bind type: [(type_identifier) @type (pointer_type (type_identifier) @type) (qualified_type) @type (pointer_type (qualified_type) @type)])
(variadic_parameter_declaration name: (identifier) @bind)
(short_var_declaration left: (expression_list (identifier) @bind))
(short_var_declaration left: (expression_list . (identifier) @bind .) right: (expression_list . [(composite_literal type: (type_identifier) @type) (unary_expression operand: (composite_literal type: (type_identifier) @type))] .))
(var_spec name: (identifier) @bind)
(range_clause left: (expression_list (identifier) @bind))
