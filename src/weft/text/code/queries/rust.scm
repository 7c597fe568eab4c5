; The root captures are those of python.scm. An `impl` is an extension of a type; `trait` is what it implements.
(ERROR) @error
(line_comment) @comment
(block_comment) @comment
(attribute_item) @comment
(struct_item name: (type_identifier) @name) @class
(enum_item name: (type_identifier) @name) @class
(union_item name: (type_identifier) @name) @class
(trait_item name: (type_identifier) @name) @class
(mod_item name: (identifier) @name body: (_)) @namespace
(impl_item !trait type: [(type_identifier) @name (generic_type type: (type_identifier) @name)]) @extension
(impl_item trait: (_) @trait type: [(type_identifier) @name (generic_type type: (type_identifier) @name)]) @extension
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(macro_definition name: (identifier) @name) @function
(block (_) @break)

(call_expression function: (identifier) @call)
(call_expression function: (scoped_identifier) @call)
(call_expression function: (generic_function function: [(identifier) (scoped_identifier)] @call))
(call_expression function: (field_expression value: (self) field: (field_identifier) @name)) @selfcall
(call_expression function: (field_expression value: (identifier) field: (field_identifier)) @call)
(use_declaration . argument: (_) @path) @import
(use_declaration . (visibility_modifier) @public argument: (_) @path) @import
(mod_item name: (identifier) @mod !body) @import

(parameter pattern: (identifier) @bind)
(parameter pattern: (identifier) @bind type: [(type_identifier) @type (reference_type type: (type_identifier) @type)])
(let_declaration pattern: (identifier) @bind)
(let_declaration pattern: (identifier) @bind type: (type_identifier) @type)
(let_declaration pattern: (identifier) @bind value: (struct_expression name: (type_identifier) @type))
(let_declaration pattern: (tuple_pattern (identifier) @bind))
(closure_parameters (identifier) @bind)
(for_expression pattern: (identifier) @bind)
(match_pattern (tuple_struct_pattern (identifier) @bind))
