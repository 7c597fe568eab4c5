; Root captures: error, comment, outer, namespace, class, extension, function, break, doc, base, call, chain, ref, import,
; export, package, bind. Other captures of a pattern are fields of its root.
(ERROR) @error
(comment) @comment
(decorated_definition) @outer
(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(block (_) @break)
(module . (expression_statement (string) @doc))
(function_definition body: (block . (expression_statement (string) @doc)))
(class_definition body: (block . (expression_statement (string) @doc)))

(class_definition superclasses: (argument_list [(identifier) (attribute)] @base))
(class_definition superclasses: (argument_list (subscript value: [(identifier) (attribute)] @base)))

(call function: (identifier) @call)
(call function: (attribute object: (identifier)) @call)
(call function: (attribute object: (attribute object: (identifier))) @call)
(call function: (attribute object: (attribute object: (attribute object: (identifier)))) @call)
(call function: (attribute object: (call function: [(identifier) (attribute object: (identifier))] @made) attribute: (identifier) @name)) @chain

; Names passed to a call: `pytest.raises(httpx.ReadTimeout)`, `isinstance(x, Response)`
(argument_list [(identifier) (attribute object: (identifier))] @ref)
(argument_list (keyword_argument value: [(identifier) (attribute object: (identifier))] @ref))

(import_statement name: (dotted_name) @path) @import
(import_statement name: (aliased_import name: (dotted_name) @path alias: (identifier) @alias)) @import
(import_from_statement module_name: (_) @from name: (dotted_name) @name) @import
(import_from_statement module_name: (_) @from name: (aliased_import name: (dotted_name) @name alias: (identifier) @alias)) @import
(import_from_statement module_name: (_) @from (wildcard_import) @star) @import

(parameters (identifier) @bind)
(parameters (default_parameter name: (identifier) @bind))
(parameters (typed_parameter . (identifier) @bind type: (type) @type))
(parameters (typed_default_parameter name: (identifier) @bind type: (type) @type))
(parameters [(list_splat_pattern (identifier) @bind) (dictionary_splat_pattern (identifier) @bind)])
(parameters (typed_parameter [(list_splat_pattern (identifier) @bind) (dictionary_splat_pattern (identifier) @bind)]))
(lambda_parameters [(identifier) @bind (default_parameter name: (identifier) @bind)])
(assignment left: (identifier) @bind)
(assignment left: (identifier) @bind type: (type) @type)
(assignment left: (identifier) @bind right: (call function: [(identifier) (attribute object: (identifier))] @of))
(assignment left: [(pattern_list (identifier) @bind) (tuple_pattern (identifier) @bind) (list_pattern (identifier) @bind)])
(for_statement left: [(identifier) @bind (pattern_list (identifier) @bind) (tuple_pattern (identifier) @bind)])
(for_in_clause left: [(identifier) @bind (pattern_list (identifier) @bind) (tuple_pattern (identifier) @bind)])
(as_pattern_target (identifier) @bind)
(as_pattern (call function: [(identifier) (attribute object: (identifier))] @of) alias: (as_pattern_target (identifier) @bind))
(named_expression name: (identifier) @bind)
