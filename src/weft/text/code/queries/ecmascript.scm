; JavaScript and TypeScript. The root captures are those of python.scm.
(ERROR) @error
(comment) @comment
(export_statement) @outer
(class_declaration name: (_) @name) @class
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_body (method_definition name: [(property_identifier) (private_property_identifier)] @name) @function)
(program (lexical_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)])) @function)
(program (variable_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)])) @function)
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)])) @function))
(statement_block (_) @break)

(call_expression function: (identifier) @call)
(call_expression function: (member_expression object: [(identifier) (this) (super)]) @call)
(call_expression function: (super) @call)
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression object: (identifier)) @call)

(import_statement (import_clause (identifier) @default) source: (string) @from) @import
(import_statement (import_clause (named_imports (import_specifier name: (identifier) @name alias: (identifier) @alias))) source: (string) @from) @import
(import_statement (import_clause (named_imports (import_specifier name: (identifier) @name !alias))) source: (string) @from) @import
(import_statement (import_clause (namespace_import (identifier) @star)) source: (string) @from) @import
(import_statement . source: (string) @from) @import
(export_statement (export_clause (export_specifier name: (identifier) @name alias: (identifier) @alias)) source: (string) @from) @export
(export_statement (export_clause (export_specifier name: (identifier) @name !alias)) source: (string) @from) @export
(export_statement "*" source: (string) @from) @export
(export_statement (namespace_export (identifier) @star) source: (string) @from) @export
(export_statement . "default" declaration: [(class_declaration name: (_) @name) (function_declaration name: (_) @name)]) @export
(export_statement . "default" value: (identifier) @name) @export
(export_statement . "default" @default value: [(arrow_function) (function_expression) (class) (object) (call_expression)]) @export
(variable_declarator name: (identifier) @star value: (call_expression function: (identifier) @require arguments: (arguments . (string) @from .))) @import
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name) value: (call_expression function: (identifier) @require arguments: (arguments . (string) @from .))) @import

(variable_declarator name: (identifier) @bind)
(variable_declarator name: (identifier) @bind value: (new_expression constructor: (identifier) @of))
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @bind))
(variable_declarator name: (array_pattern (identifier) @bind))
(arrow_function parameter: (identifier) @bind)
(catch_clause parameter: (identifier) @bind)
(for_in_statement left: (identifier) @bind)
