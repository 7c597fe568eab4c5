(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(internal_module name: (identifier) @name) @namespace
(class_body (public_field_definition name: (property_identifier) @name value: (arrow_function)) @function)
(class_body (abstract_method_signature name: (property_identifier) @name) @function)
(interface_body (method_signature name: (property_identifier) @name) @function)
(class_heritage (extends_clause value: (identifier) @base))
(class_heritage (extends_clause value: (member_expression object: (identifier)) @base))
(class_heritage (implements_clause (type_identifier) @base))
(class_heritage (implements_clause (generic_type name: (type_identifier) @base)))
(interface_declaration (extends_type_clause type: (type_identifier) @base))
(interface_declaration (extends_type_clause type: (generic_type name: (type_identifier) @base)))
(required_parameter pattern: (identifier) @bind)
(required_parameter pattern: (identifier) @bind type: (type_annotation (type_identifier) @type))
(optional_parameter pattern: (identifier) @bind)
(required_parameter pattern: (object_pattern (shorthand_property_identifier_pattern) @bind))
