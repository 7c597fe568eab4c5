"""
What the statements for PostgreSQL must keep to, so that they mean the same on one server and spread over many.

Every statement is answered by the shard of one namespace: all keys begin with it, all table references are bound to it.
What gives different values on different copies, or hides statements inside others, is left out.
"""

import re

from pglast import ast, enums, parse_sql
from pglast.visitors import Visitor

PLACEHOLDER = re.compile(r"(?<!:):([a-z_]+)\b")
FILLED_IN = re.compile(r"\{dimension\}")

FUNCTION_BODY = re.compile(r"BEGIN RETURN QUERY\n(.*); END", re.DOTALL)
PARAMETER = re.compile(r"\btenant\b")
"""Parameter of a function that names the namespace."""
BINDING = "AND :namespace = current_setting('weft.namespace', TRUE)"
"""Condition by which a function answers for the namespace of the transaction only."""

NO_NAMESPACE = {
    "api_key": "keys open namespaces, and belong to none",
    "schema_version": "which migrations are done",
}
"""Tables that are no part of any namespace, and are not spread."""

STEADY = set(
    "array_agg array_length bool_or cardinality count jsonb_array_elements jsonb_array_elements_text jsonb_each"
    " jsonb_each_text length max min replace row_number substr sum unnest".split()
)
"""Functions that give the same whenever and wherever they are called; more may be added, if that is true of them."""

ROWS = (ast.SelectStmt, ast.InsertStmt, ast.UpdateStmt, ast.DeleteStmt)

FORBIDDEN = {
    ast.CreateTrigStmt: "a trigger",
    ast.CreateEventTrigStmt: "a trigger",
    ast.RuleStmt: "a rule",
    ast.MergeStmt: "MERGE",
    ast.CTECycleClause: "CYCLE",
    ast.DoStmt: "DO",
}


def parse(sql):
    """Return the statements of a text, and what its numbered parameters were called."""
    sql = FILLED_IN.sub("1", sql)
    names = list(dict.fromkeys(PLACEHOLDER.findall(sql)))
    tree = parse_sql(PLACEHOLDER.sub(lambda found: f"${1 + names.index(found[1])}", sql))
    return [raw.stmt for raw in tree], names


def broken_rules(sql, *, key="namespace", is_script=False):
    """Return what is wrong with one statement that is bound to the namespace by `:key`, or with a script of many."""
    statements, names = parse(sql)
    found = [] if is_script or len(statements) == 1 else [f"{len(statements)} statements under one name"]
    for statement in statements:
        if not is_script and not isinstance(statement, ROWS):
            found.append(f"{type(statement).__name__} reads and writes no rows")
        rules = Rules(1 + names.index(key) if key in names else 0)
        rules((statement,))
        found += rules.found
    return found


class Rules(Visitor):
    """Walks through a statement and collects what is wrong with it."""

    def __init__(self, parameter):
        self.parameter = parameter
        self.found = []

    def __call__(self, node):
        self.tables = {cte.ctename for cte in each(node, ast.CommonTableExpr)}
        return super().__call__(node)

    def visit(self, ancestors, node):
        if type(node) in FORBIDDEN:
            self.found.append(f"{FORBIDDEN[type(node)]} may do anything")

    def visit_CreateFunctionStmt(self, ancestors, node):
        """A function has the rights of the owner, looks names up in fixed schemas, and runs one bound query."""
        options = {option.defname: option.arg for option in node.options}
        settings = {option.arg.name for option in node.options if option.defname == "set"}
        query = FUNCTION_BODY.fullmatch(options["as"][0].sval)
        if not query or "security" not in options or "search_path" not in settings:
            self.found.append(f"the function {node.funcname[-1].sval} may do anything")
            return
        inner = PARAMETER.sub(":namespace", query[1])
        self.found += broken_rules(inner)
        if ":namespace" in inner and inner.count(BINDING) != inner.count("FROM weft."):
            self.found.append(f"the function {node.funcname[-1].sval} answers for any namespace")

    # bound to one namespace

    def visit_SelectStmt(self, ancestors, node):
        self.check_bound(node.fromClause, node.whereClause)

    def visit_DeleteStmt(self, ancestors, node):
        self.check_bound((node.relation, *(node.usingClause or ())), node.whereClause)

    def visit_UpdateStmt(self, ancestors, node):
        self.check_bound((node.relation, *(node.fromClause or ())), node.whereClause)
        self.check_change(node)

    def visit_InsertStmt(self, ancestors, node):
        table = node.relation.relname
        self.check_schema(node.relation)
        if table in NO_NAMESPACE:
            return
        columns = [column.name for column in node.cols or ()]
        if "namespace" not in columns:
            self.found.append(f"{table}: a row without namespace")
            return
        for row, source in given_rows(node.selectStmt):
            if len(row) != len(columns) or not self.is_own(row[columns.index("namespace")], source):
                self.found.append(f"{table}: a row of another namespace")
        if any(each(node.selectStmt.valuesLists or (), ast.SubLink)):
            self.found.append(f"{table}: a query among values, which Citus refuses")

    def visit_OnConflictClause(self, ancestors, node):
        table = ancestors.find_nearest(ast.InsertStmt).node.relation.relname
        columns = [part.name for part in node.infer.indexElems or ()] if node.infer else ["namespace"]
        if table not in NO_NAMESPACE and "namespace" not in columns:
            self.found.append(f"{table}: a conflict beyond the namespace")
        self.check_change(node)

    def visit_WithClause(self, ancestors, node):
        if node.recursive and any(is_any(part) for part in each((node,), (ast.A_Expr, ast.SubLink))):
            self.found.append("= ANY in a recursive query")

    def check_bound(self, sources, where):
        """Every table of one level of a query has the namespace among what it must fulfil."""
        sources = sources or ()
        reached = [pair for source in sources for pair in reach(source)]
        tables = [table for table, _ in reached if self.check_schema(table)]
        alone = len(tables) == 1 and not any(each(sources, ast.RangeSubselect))
        for table, terms in reached:
            if table not in tables or table.relname in NO_NAMESPACE:
                continue
            alias = table.alias.aliasname if table.alias else table.relname
            columns = [(alias, "namespace")] + [("namespace",)] * alone
            if not any(self.is_bound(term, columns) for term in (*terms, *conjuncts(where))):
                self.found.append(f"{table.relname} as {alias} is not bound to the namespace")

    def check_schema(self, table):
        """Return whether it is one of our tables, and not a query that has a name."""
        if not table.schemaname and table.relname in self.tables:
            return False
        if table.schemaname != "weft":
            self.found.append(f"{table.relname} is not said to be in the schema")
        return True

    def is_bound(self, term, columns):
        if not (isinstance(term, ast.A_Expr) and term.kind == enums.A_Expr_Kind.AEXPR_OP and operator(term) == "="):
            return False
        sides = (term.lexpr, term.rexpr), (term.rexpr, term.lexpr)
        return any(path(one) in columns and self.is_namespace(other) for one, other in sides)

    def is_namespace(self, node):
        node = node.arg if isinstance(node, ast.TypeCast) else node
        return isinstance(node, ast.ParamRef) and node.number == self.parameter

    def is_own(self, value, sources):
        """
        Return whether a value is the namespace or, in INSERT ... SELECT, is read from a table, which is bound to it.

        Citus sends a statement to one shard only if the namespace comes from a column. Otherwise it copies the rows,
        which row security forbids to an ordinary role.
        """
        tables = [table for source in sources for table, _ in reach(source) if table.schemaname]
        names = {table.alias.aliasname if table.alias else table.relname for table in tables}
        return path(value) in {(name, "namespace") for name in names} if sources else self.is_namespace(value)

    # the same everywhere

    def check_change(self, node):
        """Raise for a change of the namespace, or for a value that differs between copies."""
        if any(target.name == "namespace" for target in node.targetList or ()):
            self.found.append("changes the namespace of a row")
        calls = {call.funcname[-1].sval for call in each((node,), ast.FuncCall)}
        calls |= {call.op.name for call in each((node,), ast.SQLValueFunction)}
        self.found += [f"{call} in an update" for call in sorted(calls - STEADY)]

    # keys

    def visit_CreateStmt(self, ancestors, node):
        self.check_schema(node.relation)
        table, parts = node.relation.relname, node.tableElts or ()
        if table in NO_NAMESPACE or node.partbound:
            return
        if not any(isinstance(part, ast.ColumnDef) and part.colname == "namespace" for part in parts):
            self.found.append(f"{table} has no namespace")

    def visit_Constraint(self, ancestors, node):
        kinds = enums.ConstrType
        table = (ancestors.find_nearest(ast.CreateStmt) or ancestors.find_nearest(ast.AlterTableStmt)).node.relation
        column = ancestors.find_nearest(ast.ColumnDef)
        own = [column.node.colname] if column else [key.sval for key in node.keys or node.fk_attrs or ()]
        keys = [own]
        if node.contype == kinds.CONSTR_FOREIGN:
            self.check_schema(node.pktable)
            keys += [[key.sval for key in node.pk_attrs]] if node.pk_attrs else []
            if node.pktable.relname in NO_NAMESPACE:
                self.found.append(f"{table.relname} refers to what is in no namespace")
        elif node.contype not in (kinds.CONSTR_PRIMARY, kinds.CONSTR_UNIQUE, kinds.CONSTR_EXCLUSION):
            return
        if table.relname not in NO_NAMESPACE and any(key[:1] != ["namespace"] for key in keys):
            self.found.append(f"{table.relname}: {node.contype.name} does not begin with the namespace")

    def visit_IndexStmt(self, ancestors, node):
        table = node.relation.relname
        if node.unique and table not in NO_NAMESPACE and node.indexParams[0].name != "namespace":
            self.found.append(f"{table}: {node.idxname} does not begin with the namespace")


class Collector(Visitor):
    """Keeps the nodes of a kind, however deep."""

    def __init__(self, kind):
        self.kind, self.found = kind, []

    def visit(self, ancestors, node):
        if isinstance(node, self.kind):
            self.found.append(node)


def each(nodes, kind):
    """Return the nodes of a kind that are in others."""
    collector = Collector(kind)
    collector(tuple(nodes))
    return collector.found


def reach(source):
    """Yield the tables of a FROM clause, each with the conditions of joins that leave out its rows."""
    if isinstance(source, ast.RangeVar):
        yield source, ()
    elif isinstance(source, ast.RangeTableSample):
        yield from reach(source.relation)
    elif isinstance(source, ast.JoinExpr):
        kinds, terms = enums.JoinType, conjuncts(source.quals)
        for side, filtering in (source.larg, kinds.JOIN_RIGHT), (source.rarg, kinds.JOIN_LEFT):
            holds = source.jointype in (kinds.JOIN_INNER, filtering)
            yield from ((table, (*more, *(terms if holds else ()))) for table, more in reach(side))


def conjuncts(condition):
    """Return conditions that must all hold for a condition to hold."""
    if isinstance(condition, ast.BoolExpr) and condition.boolop == enums.BoolExprType.AND_EXPR:
        return [term for part in condition.args for term in conjuncts(part)]
    return [condition] if condition else []


def given_rows(query):
    """Yield the rows that a query gives an INSERT, each with the FROM clause it comes from."""
    if query is None:
        return
    if query.op != enums.SetOperation.SETOP_NONE:
        yield from given_rows(query.larg)
        yield from given_rows(query.rarg)
    for values in query.valuesLists or ():
        yield values, ()
    if query.targetList:
        yield [target.val for target in query.targetList], query.fromClause or ()


def path(node):
    """Return the parts of the name of a column."""
    return tuple(getattr(field, "sval", "*") for field in node.fields) if isinstance(node, ast.ColumnRef) else ()


def operator(node):
    return node.name[-1].sval


def is_any(node):
    if isinstance(node, ast.SubLink):
        return node.subLinkType == enums.SubLinkType.ANY_SUBLINK
    return node.kind == enums.A_Expr_Kind.AEXPR_OP_ANY
