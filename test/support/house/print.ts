import type { SyntaxNode } from './sources.ts'
import { forEachNode, parse, read, roomOf, rooms, sourceFiles } from './sources.ts'
import type { TableUse } from './tables.ts'
import { tableNames, tableUses } from './tables.ts'

// Prints how large the rooms are, which rooms read and write which tables, and how many files mention a name:
// `npm run house -- impact MQTT`.

interface Size {
  readonly files: number
  readonly lines: number
  readonly statements: number
  readonly functions: number
}

const none: Size = { files: 0, lines: 0, statements: 0, functions: 0 }
const isStatement = ({ type }: SyntaxNode) => /(Statement|Declaration)$/.test(type) && type !== 'BlockStatement'
const isFunction = ({ type }: SyntaxNode) => /^(Function(Declaration|Expression)|ArrowFunctionExpression)$/.test(type)

const sources = sourceFiles('src').map((file) => ({ file, source: read(file) }))
const tests = sourceFiles('test').map((file) => ({ file, source: read(file) }))

printSizes()
printTables(sources.flatMap(({ file, source }) => tableUses(file, source)))
printMentions(process.argv.length > 2 ? process.argv.slice(2) : ['impact', 'accentColor', 'MQTT', 'TELEGRAM'])

function printSizes(): void {
  const sizes = new Map(rooms.map((room) => [room, none]))
  let all = none
  for (const { file, source } of sources) {
    const size = sizeOf(file, source)
    sizes.set(roomOf(file), add(sizes.get(roomOf(file)) ?? none, size))
    all = add(all, size)
  }
  sizes.set('', sizes.get('') ?? none)
  const rows = [...sizes].map(([room, size]) => rowOf(room || '(beside rooms)', size))
  print(['room', 'files', 'lines', 'statements', 'functions'], [...rows, rowOf('all', all)])
}

function sizeOf(file: string, source: string): Size {
  let [statements, functions] = [0, 0]
  forEachNode(parse(file, source), (node) => {
    if (isStatement(node)) statements += 1
    if (isFunction(node)) functions += 1
  })
  return { files: 1, lines: source.split('\n').length - 1, statements, functions }
}

function add(one: Size, other: Size): Size {
  return {
    files: one.files + other.files,
    lines: one.lines + other.lines,
    statements: one.statements + other.statements,
    functions: one.functions + other.functions,
  }
}

function rowOf(name: string, { files, lines, statements, functions }: Size): string[] {
  return [name, ...[files, lines, statements, functions].map(String)]
}

function printTables(uses: readonly TableUse[]): void {
  const rows = tableNames.map((table) => {
    const own = uses.filter((use) => use.table === table)
    const roomsOf = (isWrite: boolean) => [...new Set(own.filter((use) => use.isWrite === isWrite).map(roomOfUse))]
    return { table, all: new Set(own.map(roomOfUse)).size, writers: roomsOf(true), readers: roomsOf(false) }
  })
  print(
    ['table', 'rooms', 'written by', 'read by'],
    rows
      .toSorted((one, other) => other.all - one.all)
      .map(({ table, all, writers, readers }) => [table, String(all), writers.join(' '), readers.join(' ')]),
  )
}

function roomOfUse({ file }: TableUse): string {
  return roomOf(file)
}

function printMentions(words: readonly string[]): void {
  const rows = words.map((word) => {
    const mention = new RegExp(`\\b${word}\\b`)
    const [inSources, inTests] = [sources, tests].map((files) => files.filter(({ source }) => mention.test(source)))
    const roomsOf = new Set(inSources?.map(({ file }) => roomOf(file)))
    return [word, ...[inSources?.length, roomsOf.size, inTests?.length].map(String)]
  })
  print(['mentioned', 'files', 'rooms', 'tests'], rows)
}

/** Prints rows in columns; numbers stand to the right. */
function print(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)))
  for (const row of [head, ...rows]) {
    const isNumber = (column: number) => rows.every((each) => /^\d*$/.test(each[column] ?? ''))
    const cells = row.map((cell, column) =>
      isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    )
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`)
  }
  process.stdout.write('\n')
}
