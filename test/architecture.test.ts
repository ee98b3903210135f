import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ownedTables, ownerOf, readElsewhere } from './support/house/owners.ts'
import { roomOf as room, rooms, sourceFiles } from './support/house/sources.ts'
import type { TableUse } from './support/house/tables.ts'
import { tableNames, tableUses } from './support/house/tables.ts'

interface Import {
  readonly file: string
  /** A path under `src/`, or the name of a package. */
  readonly to: string
  readonly typeOnly: boolean
}

const features = [
  'account',
  'people',
  'blacklist',
  'status',
  'monitoring',
  'notification',
  'alerting',
  'integration',
  'billing',
  'status-page',
  'configuration',
  'import',
  'diagnosis',
  'docs',
  'console',
]

const files = sourceFiles('src')
const imports = files.flatMap(importsOf)
/** The folders of protocols within a room; everything else is the domain. */
const isDoor = (file: string) => /^src\/[\w-]+\/(graphql|http|html|browser)\//.test(file)
const isFeature = (file: string) => features.includes(room(file))
const isDomain = (file: string) => isFeature(file) && !isDoor(file)
const offences = (bad: (found: Import) => boolean) => imports.filter(bad).map(({ file, to }) => `${file} → ${to}`)

describe('the architecture', () => {
  test('has known rooms, and only entry points beside them', () => {
    expect(files.filter((file) => room(file) !== '' && !rooms.includes(room(file)))).toEqual([])
    const entries = ['allclear.ts', 'build.js', 'demo.ts', 'main.ts', 'pack.js', 'typescript-loader.js']
    expect(files.filter((file) => room(file) === '').sort()).toEqual(entries.map((name) => `src/${name}`))
  })

  test('imports point down', () => {
    const upward = ({ file, to }: Import) =>
      room(file) !== '' && rooms.includes(room(to)) && rooms.indexOf(room(to)) > rooms.indexOf(room(file))
    expect(offences(upward)).toEqual([])
  })

  test('no two rooms import each other', () => {
    const between = new Set(imports.map(({ file, to }) => `${room(file)} ${room(to)}`))
    const mutual = rooms.flatMap((one, index) =>
      rooms.slice(index + 1).filter((other) => between.has(`${one} ${other}`) && between.has(`${other} ${one}`)),
    )
    expect(mutual).toEqual([])
  })

  test('no two folders beside each other import each other, types included', () => {
    const steps = new Set(imports.flatMap(stepsBetweenFolders))
    const mutual = [...steps].filter((step) => {
      const [one = '', other = ''] = step.split(' ')
      return one < other && steps.has(`${other} ${one}`)
    })
    expect(mutual).toEqual([])
  })

  test('domain files know no GraphQL and no HTTP', () => {
    const transport = /^(graphql|@graphql|@pothos|@hono|hono|ws$|node:https?$|src\/(graphql|http)\/)/
    // A monitor speaks the protocol of its target.
    const isProbe = ({ file, to }: Import) => file === 'src/monitoring/probe/websocket.ts' && to === 'ws'
    expect(offences((each) => isDomain(each.file) && transport.test(each.to) && !isProbe(each))).toEqual([])
  })

  test('domain files import no protocol folders, and no room imports another’s, but the console shows parts of other pages', () => {
    const isShownPart = ({ file, to }: Import) =>
      ['src/console/html/', 'src/console/browser/'].some((folder) => file.startsWith(folder)) &&
      /^src\/[\w-]+\/(html|browser)\//.test(to)
    const wrong = (found: Import) => {
      const { file, to } = found
      if (!isFeature(file) || !isFeature(to) || !isDoor(to) || isShownPart(found)) return false
      return room(file) !== room(to) || !isDoor(file)
    }
    expect(offences(wrong)).toEqual([])
  })

  test('doors read the database through the domain; a GraphQL resolver adds the selection of its document', () => {
    // Prisma turns the selection (`query`, `include`) into the statement, so this read cannot be in the domain.
    const selected = /^\((?:\{\s*\.\.\.(?:query|include|slice|nodeQuery)\b|slice\b|query\b)/
    const reads = files.filter(isDoor).flatMap((file) => {
      const source = readFileSync(file, 'utf8')
      const found = source.matchAll(/\b(?:db|prisma)\.[$\w]+(?:\.\w+)?/g)
      return Array.from(found, ({ 0: call, index }) => ({ file, call, after: source.slice(index + call.length) }))
    })
    const isSelected = ({ file, after }: { readonly file: string; readonly after: string }) =>
      file.includes('/graphql/') && selected.test(after)
    expect(reads.filter((read) => !isSelected(read)).map(({ file, call }) => `${file}: ${call}`)).toEqual([])
  })

  test('nothing uses Node’s HTTP/2, because a hostile server can crash the process of its client', () => {
    expect(offences(({ to }) => to === 'node:http2' || to === 'http2')).toEqual([])
  })

  test('TLS is spoken in one place, except with hosts that the operator or we name', () => {
    const tls = offences(({ to, typeOnly }) => !typeOnly && ['node:tls', 'node:https', 'tls', 'https'].includes(to))
    expect(tls.map((each) => each.split(' ')[0]).sort()).toEqual(
      [
        // The address of this service, for the diagnosis.
        'src/network/websocket-handshake.ts',
        ...['src/network/outbound/tls-options.ts', 'src/network/outbound/tls-worker.ts'],
        // Only the names of the authorities that Node trusts.
        'src/network/outbound/certification-path.ts',
      ].sort(),
    )
    // The list of registries, for the diagnosis, and the operator's provider of sign-ins; browsers and the command line
    // have their own.
    const fetching = files.filter((file) => !/^src\/(client|cli)\/|\/browser\//.test(file))
    expect(fetching.filter((file) => /(?<![.\w])fetch\(/.test(readFileSync(file, 'utf8')))).toEqual([
      'src/diagnosis/diagnosis.ts',
      'src/people/sign-in/openid.ts',
    ])
  })

  test('engines know no feature', () => {
    const engines = ['core', 'language', 'database', 'network', 'event-log', 'http', 'graphql']
    expect(offences(({ file, to }) => engines.includes(room(file)) && isFeature(to))).toEqual([])
  })

  test('no room widens the types of another: contexts say what they hold', () => {
    expect(files.filter((file) => /declare module '\.{1,2}\//.test(readFileSync(file, 'utf8')))).toEqual([])
  })

  test('the context of a request has what the resolvers of every room need', () => {
    const needed = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/builderFor<(\w+)>\(\)/g)].map(([, name = '']) => name),
    )
    const [, provided = ''] =
      /^type Needs = ([^\n]+(?:\n {2}.+)*)/m.exec(readFileSync('src/app/request-context.ts', 'utf8')) ?? []
    expect(needed).toContain('AlertingContext')
    expect(needed.filter((name) => name !== 'Needs' && !provided.split(/[&\s]+/).includes(name))).toEqual([])
  })

  test('every table has one owner', () => {
    expect(Object.values(ownedTables).flat().sort()).toEqual([...tableNames].sort())
  })

  test('only its owner writes and reads a table', () => {
    const foreign = files
      .flatMap((file) => tableUses(file, readFileSync(file, 'utf8')))
      .filter(({ file, table }) => room(file) !== ownerOf(table))
    const isKnown = ({ file, table, isWrite }: TableUse) => !isWrite && readElsewhere[room(file)]?.includes(table)
    const describeUse = ({ file, line, table, isWrite }: TableUse) =>
      `${file}:${line} ${isWrite ? 'writes' : 'reads'} ${table}, which ${ownerOf(table)} owns`
    expect(foreign.filter((use) => !isKnown(use)).map(describeUse)).toEqual([])
    // The list of exceptions only gets shorter.
    const used = new Set(foreign.map(({ file, table }) => `${room(file)} ${table}`))
    const listed = Object.entries(readElsewhere).flatMap(([each, tables]) => tables.map((table) => `${each} ${table}`))
    expect(listed.filter((each) => !used.has(each))).toEqual([])
  })

  test('finds the tables in SQL, calls, relations and conditions', () => {
    const source = [
      'const sql = Prisma.sql`UPDATE "Incident" SET title = 1 FROM "Service" AS service`',
      'const rows = db.monitor.findMany({ where: { organization: { deletedAt: null } }, include: { watches: true } })',
      'await tx.db.incident.create({ data: { ...fields, services: { create: [] } } })',
      'const select = { group: { select: { name: true } } } satisfies Prisma.ServiceSelect',
      "const lease = { table: 'Delivery', dueColumn: 'dueAt' }",
      'const words = text.incident.updated("Page")',
    ].join('\n')
    const found = tableUses('src/room/file.ts', source)
    expect(found.map(({ line, table, isWrite }) => `${line} ${isWrite ? 'writes' : 'reads'} ${table}`).sort()).toEqual([
      '1 reads Service',
      '1 writes Incident',
      '2 reads Monitor',
      '2 reads Organization',
      '2 reads Watch',
      '3 writes Incident',
      '3 writes IncidentService',
      '4 reads Service',
      '4 reads ServiceGroup',
      '5 writes Delivery',
    ])
  })

  test('looks up external names only among the own properties of a table', () => {
    const reads = files.flatMap((file) => {
      const source = readFileSync(file, 'utf8')
      const tables = source.matchAll(/\bconst (\w+): (?:Partial<)?(?:Readonly<)?Record<string,/g)
      return Array.from(tables, ([, name = '']) => name).flatMap((name) => {
        const found = source.matchAll(
          new RegExp(`(?<![\\w.])${name}\\[(?!['"])[^\\]]*\\](?!\\s*(?:\\?\\?)?=[^=>])`, 'g'),
        )
        return Array.from(found, ([read]) => `${file}: ${read}, use ownValue`)
      })
    })
    expect(reads).toEqual([])
  })

  test('has no import cycles', () => {
    const next = new Map<string, string[]>()
    for (const { file, to, typeOnly } of imports) if (!typeOnly) next.set(file, [...(next.get(file) ?? []), to])
    const finished = new Set<string>()
    const circleFrom = (file: string, path: readonly string[]): string | null => {
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file].join(' → ')
      if (finished.has(file)) return null
      const found = (next.get(file) ?? [])
        .map((to) => circleFrom(to, [...path, file]))
        .find((circle) => circle !== null)
      finished.add(file)
      return found ?? null
    }
    expect(files.map((file) => circleFrom(file, [])).filter((circle) => circle !== null)).toEqual([])
  })

  test('reads the environment in one place, except what loads before it, and the clock only at the start', () => {
    const containing = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(file, 'utf8')))
    const first = ['src/allclear.ts', 'src/core/config.ts', 'src/demo.ts', 'src/main.ts']
    expect(containing(/process\.env/).sort()).toEqual(first)
    // The log counts by the machine's own clock, as its lines have it.
    const starts = [
      ...['src/allclear.ts', 'src/app/log.ts', 'src/app/start.ts'],
      ...['src/database/migration/new-migration.ts', 'src/demo.ts'],
    ]
    const inServer = (file: string) => !file.includes('/browser/')
    expect(
      containing(/Date\.now\(|new Date\(\)/)
        .filter(inServer)
        .sort(),
    ).toEqual(starts)
  })

  test('reads every form of import', () => {
    const source = [
      "import type { A } from './a.ts'",
      "import {\n  type B,\n  b,\n} from '../b.ts'",
      "import 'c'",
      "export { d } from './d.ts'",
      "export type { E } from './e.ts'",
      "const f = await import('f')",
      "type G = typeof import('g')",
      "let h: import('h').H",
    ].join('\n')
    expect(importsIn('src/room/file.ts', source).map(({ to, typeOnly }) => [to, typeOnly])).toEqual([
      ['src/room/a.ts', true],
      ['src/b.ts', false],
      ['c', false],
      ['src/room/d.ts', false],
      ['src/room/e.ts', true],
      ['f', false],
      ['g', true],
      ['h', true],
    ])
  })

  test('each room says what it owns, what it offers and what it must never know, in less than forty lines', () => {
    const named = rooms.filter((name) => existsSync(`src/${name}/README.md`))
    expect(named.length).toBeGreaterThan(20)
    for (const name of named) {
      const text = readFileSync(`src/${name}/README.md`, 'utf8')
      expect(text.split('\n').length, name).toBeLessThan(40)
      const [owns = ''] = /^- \*\*Owns\*\* .+$/m.exec(text) ?? []
      expect(text, name).toMatch(/^- \*\*Offers\*\* .+\.\n- \*\*Never knows\*\* .+\.$/m)
      const tables = Array.from(owns.matchAll(/`([A-Z]\w+)`/g), ([, table]) => table)
      expect(tables, name).toEqual(ownedTables[name] ?? [])
    }
  })
})

/**
 * Returns the step of an import from one folder to another beside it, `src/a/b src/a/c`, if it is one. The files beside
 * the folders count as a folder, `src/a/.`.
 */
function stepsBetweenFolders({ file, to }: Import): string[] {
  const [from, target] = [file.split('/'), to.split('/')]
  const depth = from.findIndex((name, index) => name !== target[index])
  const isInFolders = depth > 0 && (depth < from.length - 1 || depth < target.length - 1)
  if (!isInFolders || target[1] === 'generated') return []
  const nameOf = (path: readonly string[]) => (depth < path.length - 1 ? path[depth] : '.')
  return [[from, target].map((path) => [...path.slice(0, depth), nameOf(path)].join('/')).join(' ')]
}

function importsOf(file: string): Import[] {
  return importsIn(file, readFileSync(file, 'utf8'))
}

/** Returns the imports of a source, including `import('…')` as a value or in a type. */
function importsIn(file: string, source: string): Import[] {
  const statements = source.matchAll(
    /^(?:import|export)\s+(type\s)?(?:[^'"\n;]*?|\{[^}]*\})\s*(?:from\s+)?['"]([^'"]+)['"]/gm,
  )
  const inline = source.matchAll(/(typeof\s+)?\bimport\(\s*['"]([^'"]+)['"]\s*\)(\.[A-Z])?/g)
  return [
    ...Array.from(statements, ([, type, to = '']) => ({ to, typeOnly: type !== undefined })),
    ...Array.from(inline, ([, type, to = '', member]) => ({ to, typeOnly: (type ?? member) !== undefined })),
  ].map(({ to, typeOnly }) => ({
    file,
    to: to.startsWith('.') ? relative('.', join(dirname(file), to)) : to,
    typeOnly,
  }))
}
