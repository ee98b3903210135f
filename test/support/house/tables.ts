import type { SyntaxNode } from './sources.ts'
import { forEachNode, isNode, parse, read } from './sources.ts'

/** The tables, each with the tables that its relations lead to, by the relation's name. */
type Tables = ReadonlyMap<string, ReadonlyMap<string, string>>

/** A place that reads or writes a table. */
export interface TableUse {
  readonly file: string
  readonly line: number
  readonly table: string
  readonly isWrite: boolean
}

const schema = read('prisma/schema.prisma')
const names = Array.from(schema.matchAll(/^model (\w+)/gm), ([, name = '']) => name)
const tables: Tables = new Map(
  Array.from(schema.matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm), ([, name = '', body = '']) => {
    const fields = Array.from(
      body.matchAll(/^ {2}(\w+) +(\w+)/gm),
      ([, field = '', type = '']) => [field, type] as const,
    )
    return [name, new Map(fields.filter(([, type]) => names.includes(type)))] as const
  }),
)
/** The tables by the names that the Prisma client gives them. */
const models = new Map(names.map((name) => [name.charAt(0).toLowerCase() + name.slice(1), name]))
const quoted = new RegExp(`"(${names.join('|')})"`)
const call = new RegExp(
  `\\.(${[...models.keys()].join('|')})\\s*\\.(find|count|agg|group|create|up|delete)|\\btable: '|insertRows|\\bPrisma\\.\\w+(Include|Select|WhereInput)`,
)
const reading = /^(find(Unique|First|Many)(OrThrow)?|count|aggregate|groupBy)$/
const writing =
  /^(create|createMany|createManyAndReturn|connectOrCreate|update|updateMany|updateManyAndReturn|upsert|delete|deleteMany|set)$/

/** The names of all tables. */
export const tableNames: readonly string[] = names

/**
 * Returns where a source reads and writes tables: in SQL, which quotes their names; in calls of the Prisma client and the
 * relations that they follow; in conditions and selections for such calls; and where it names a table with due times.
 */
export function tableUses(file: string, source: string): TableUse[] {
  if (!quoted.test(source) && !call.test(source)) return []
  const uses = new Map<string, TableUse>()
  const add = (table: string, at: number, isWrite: boolean) => {
    const line = source.slice(0, at).split('\n').length
    uses.set(`${at} ${table} ${isWrite}`, { file, line, table, isWrite })
  }
  forEachNode(parse(file, source), (node) => {
    if (node.type === 'TemplateLiteral' || node.type === 'Literal') usesInText(source, node, add)
    if (node.type === 'CallExpression') usesInCall(node, file.includes('/graphql/'), add)
    if (node.type === 'Property') usesInLease(node, add)
    if (node.type === 'TSSatisfiesExpression') usesInFragment(node['typeAnnotation'], node['expression'], source, add)
    if (node.type === 'VariableDeclarator' && isNode(node['id'])) {
      usesInFragment(node['id']['typeAnnotation'], node['init'], source, add)
    }
  })
  return [...uses.values()]
}

type Add = (table: string, at: number, isWrite: boolean) => void

/** SQL quotes the names of tables and no other names like them. Our strings have single quotes, attributes double ones. */
function usesInText(source: string, { start, end }: SyntaxNode, add: Add): void {
  const text = source.slice(start, end)
  if (text.startsWith('"')) return
  const found = text.matchAll(new RegExp(`(INSERT INTO|UPDATE|DELETE FROM)?\\s*${quoted.source}(?!\\.)`, 'g'))
  for (const { 0: all, 1: verb, 2: name = '', index } of found)
    add(name, start + index + all.length - 1, verb !== undefined)
}

/** `db.incident.findMany({ … })`, except in a GraphQL resolver that adds the selection of its document (`...query`). */
function usesInCall({ callee, arguments: args }: SyntaxNode, isDoor: boolean, add: Add): void {
  if (isNode(callee) && callee['name'] === 'insertRows') usesInInsert(args, add)
  const verb = memberOf(callee)
  const model = verb && memberOf(verb.object)
  const table = model && models.get(model.name)
  if (!table || (isDoor && isSelected(args)) || !(reading.test(verb.name) || writing.test(verb.name))) return
  add(table, verb.at, writing.test(verb.name))
  for (const each of args as unknown[]) if (isNode(each)) usesInRelations(table, each, add)
}

/** `insertRows(db, 'Service', rows)` of `database`. */
function usesInInsert(args: unknown, add: Add): void {
  const [, name] = args as unknown[]
  const table = isNode(name) ? names.find((each) => each === name['value']) : undefined
  if (table !== undefined && isNode(name)) add(table, name.start, true)
}

/** Whether the first argument begins with `...query`, `...slice` or `...nodeQuery(…)`, the selection of the document. */
function isSelected(args: unknown): boolean {
  const [first] = args as unknown[]
  if (!isNode(first) || first.type !== 'ObjectExpression') return false
  const [spread] = first['properties'] as SyntaxNode[]
  if (spread?.type !== 'SpreadElement' || !isNode(spread['argument'])) return false
  const { argument } = spread
  const name = isNode(argument['callee']) ? argument['callee']['name'] : argument['name']
  return ['query', 'slice', 'nodeQuery'].includes(String(name))
}

/** Follows the names of relations through the argument of a call. */
function usesInRelations(table: string, node: SyntaxNode, add: Add): void {
  for (const part of partsOf(node)) usesInRelations(table, part, add)
  if (node.type !== 'Property' || !isNode(node['key']) || !isNode(node['value'])) return
  const { key, value } = node
  const related = tables.get(table)?.get(String(key['name']))
  if (related !== undefined) add(related, key.start, isNestedWrite(value))
  usesInRelations(related ?? table, value, add)
}

/** Returns the parts of an argument in which relations of the same table may be. */
function partsOf(node: SyntaxNode): SyntaxNode[] {
  const members = { ArrayExpression: ['elements'], ObjectExpression: ['properties'], SpreadElement: ['argument'] }
  const parts: Partial<Record<string, string[]>> = { ...members, ConditionalExpression: ['consequent', 'alternate'] }
  return (parts[node.type] ?? []).flatMap((name) => node[name]).filter(isNode)
}

/** `services: { create: … }` in the data of a call. */
function isNestedWrite({ type, properties }: SyntaxNode): boolean {
  if (type !== 'ObjectExpression') return false
  const keys = (properties as SyntaxNode[]).map(({ key }) => (isNode(key) ? String(key['name']) : ''))
  return keys.some((key) => writing.test(key))
}

/** `{ table: 'Watch', dueColumn: 'dueAt' }` for `database/lease`, which changes the due time. */
function usesInLease({ key, value, start }: SyntaxNode, add: Add): void {
  if (!isNode(key) || key['name'] !== 'table' || !isNode(value)) return
  const table = names.find((name) => name === value['value'])
  if (table !== undefined) add(table, start, true)
}

/** `{ … } satisfies Prisma.IncidentInclude`. */
function usesInFragment(annotation: unknown, expression: unknown, source: string, add: Add): void {
  if (!isNode(annotation) || !isNode(expression)) return
  const type = /\bPrisma\.(\w+?)(?:Include|Select|WhereInput)\b/.exec(source.slice(annotation.start, annotation.end))
  const table = type?.[1]
  if (table === undefined || !tables.has(table)) return
  add(table, expression.start, false)
  usesInRelations(table, expression, add)
}

/** Returns the name of `object.name`, its object and where the name stands. */
function memberOf(node: unknown): { readonly name: string; readonly object: unknown; readonly at: number } | undefined {
  if (!isNode(node) || node.type !== 'MemberExpression' || !isNode(node['property'])) return undefined
  const { property, object } = node
  return { name: String(property['name']), object, at: property.start }
}
