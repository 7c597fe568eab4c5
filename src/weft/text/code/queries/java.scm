; The root captures are those of python.scm.
(ERROR) @error
(line_comment) @comment
(block_comment) @comment
(class_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @class
(enum_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(annotation_type_declaration name: (identifier) @name) @class
(method_declaration name: (identifier) @name) @function
(block (_) @break)
(constructor_body (_) @break)

(superclass (type_identifier) @base)
(superclass (generic_type (type_identifier) @base))
(super_interfaces (type_list [(type_identifier) @base (generic_type (type_identifier) @base)]))
(extends_interfaces (type_list [(type_identifier) @base (generic_type (type_identifier) @base)]))

(method_invocation !object name: (identifier) @call)
(method_invocation object: [(identifier) (this) (super)] @object name: (identifier) @call)
(object_creation_expression type: (type_identifier) @call)
(object_creation_expression type: (generic_type (type_identifier) @call))
(package_declaration (scoped_identifier) @package)
(package_declaration (identifier) @package)
(import_declaration (scoped_identifier) @path (asterisk) @star) @import
(import_declaration (scoped_identifier) @path .) @import

(formal_parameter name: (identifier) @bind)
(formal_parameter type: (type_identifier) @type name: (identifier) @bind)
(local_variable_declaration declarator: (variable_declarator name: (identifier) @bind))
(local_variable_declaration type: (type_identifier) @type declarator: (variable_declarator name: (identifier) @bind))
(field_declaration type: (type_identifier) @type declarator: (variable_declarator name: (identifier) @bind))
(enhanced_for_statement name: (identifier) @bind)
(catch_formal_parameter name: (identifier) @bind)
(lambda_expression parameters: (identifier) @bind)
(inferred_parameters (identifier) @bind)
