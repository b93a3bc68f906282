package bind

import "strings"

// foreignFunctions are functions of other languages, in lower case and without
// underscores, with what does the same here.
var foreignFunctions = map[string]string{
	"strlen": "size(text)", "len": "size(text)", "charlength": "size(text)", "characterlength": "size(text)", "arraylength": "size(list)", "cardinality": "size(list)",
	"substr": "substring(text, start, length)", "mid": "substring(text, start, length)", "slice": "list[from..to]",
	"ucase": "toUpper(text)", "lcase": "toLower(text)", "touppercase": "toUpper(text)", "tolowercase": "toLower(text)",
	"concat": "a + b", "concatws": "reduce(s = '', x IN list | s + x)", "join": "reduce(s = '', x IN list | s + x)",
	"contains": "a CONTAINS b", "startswith": "a STARTS WITH b", "endswith": "a ENDS WITH b", "regexpmatches": "a =~ 'pattern'", "matches": "a =~ 'pattern'",
	"instr": "a CONTAINS b", "charindex": "a CONTAINS b", "indexof": "a CONTAINS b", "position": "a CONTAINS b",
	"now": "datetime()", "getdate": "datetime()", "currenttimestamp": "datetime()", "sysdate": "datetime()", "today": "date()", "currentdate": "date()", "currenttime": "time()",
	"strftime": "toString(moment), or its parts such as moment.year", "dateadd": "moment + duration('P1D')", "datediff": "duration.between(a, b)",
	"toint": "toInteger(value)", "int": "toInteger(value)", "cast": "toInteger(value), toFloat(value) or toString(value)", "tonumber": "toFloat(value)",
	"str": "toString(value)", "tostr": "toString(value)", "bool": "toBoolean(value)",
	"ifnull": "coalesce(a, b)", "nvl": "coalesce(a, b)", "isnull": "a IS NULL", "isnotnull": "a IS NOT NULL",
	"if": "CASE WHEN condition THEN a ELSE b END", "iif": "CASE WHEN condition THEN a ELSE b END", "decode": "CASE value WHEN a THEN b END",
	"uuid": "randomUUID()", "newid": "randomUUID()", "random": "rand()",
	"pow": "a ^ b", "power": "a ^ b", "mod": "a % b", "truncate": "toInteger(number)",
	"mean": "avg(value)", "average": "avg(value)", "median": "percentileCont(value, 0.5)", "stddev": "stDev(value)", "variance": "stDev(value) ^ 2",
	"first": "head(list)", "element": "list[index]", "flatten": "reduce(l = [], x IN list | l + x)",
	"arrayagg": "collect(value)", "groupconcat": "collect(value)", "stringagg": "collect(value)", "listagg": "collect(value)",
	"degree": "COUNT { (n)--() }", "indegree": "COUNT { (n)<--() }", "outdegree": "COUNT { (n)-->() }", "label": "labels(n)", "relationshiptype": "type(r)",
	"cosine": "similarity(a, b)", "cosinesimilarity": "similarity(a, b)", "vectorsimilaritycosine": "similarity(a, b)",
}

// foreign returns what does here what a function of another language does; "" when
// it is none.
func foreign(name string) string {
	return foreignFunctions[strings.NewReplacer("_", "", ".", "").Replace(strings.ToLower(name))]
}
