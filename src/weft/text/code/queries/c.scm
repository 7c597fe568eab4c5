; C and C++. The root captures are those of python.scm.
(ERROR) @error
(comment) @comment
(struct_specifier name: (type_identifier) @name body: (_)) @class
(union_specifier name: (type_identifier) @name body: (_)) @class
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function
(function_definition (storage_class_specifier) @storage declarator: (function_declarator declarator: (identifier) @name)) @function
(function_definition (storage_class_specifier) @storage declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function
(compound_statement (_) @break)

(call_expression function: (identifier) @call)
(preproc_include path: [(string_literal) (system_lib_string)] @path) @import

(parameter_declaration declarator: (identifier) @bind)
(parameter_declaration declarator: (pointer_declarator declarator: (identifier) @bind))
(declaration declarator: (identifier) @bind)
(declaration declarator: (init_declarator declarator: (identifier) @bind))
(declaration declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @bind)))
(parameter_declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bind))))
