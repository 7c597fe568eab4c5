(template_declaration) @outer
(namespace_definition name: (_) @name) @namespace
(class_specifier name: (type_identifier) @name body: (_)) @class
(function_definition declarator: (function_declarator declarator: [(field_identifier) (qualified_identifier) (destructor_name)] @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (qualified_identifier)] @name))) @function
(function_definition declarator: (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier)] @name))) @function
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @function
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))) @function
(field_declaration declarator: (reference_declarator (function_declarator declarator: (field_identifier) @name))) @function
(base_class_clause [(type_identifier) (qualified_identifier)] @base)
(base_class_clause (template_type name: (type_identifier) @base))
(call_expression function: (qualified_identifier) @call)
(call_expression function: (field_expression argument: (this) field: (field_identifier) @name)) @selfcall
(new_expression type: (type_identifier) @call)
(parameter_declaration declarator: (reference_declarator (identifier) @bind))
(for_range_loop declarator: (identifier) @bind)
(for_range_loop declarator: (reference_declarator (identifier) @bind))
