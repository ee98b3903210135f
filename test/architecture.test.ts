import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

interface Import {
  readonly file: string
  /** A path under `src/`, or the name of a package. */
  readonly to: string
  readonly typeOnly: boolean
}

/** Rooms from the bottom up. A room imports only rooms before it, types included. */
const rooms = [
  'client',
  'core',
  'language',
  'database',
  'backup',
  'network',
  'event-log',
  'http',
  'graphql',
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
  'docs',
  'console',
  'demo',
  'app',
  'cli',
]
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
]

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(tsx?|m?js)$/.test(file) && !file.startsWith('generated'))
  .map((file) => `src/${file}`)
const imports = files.flatMap(importsOf)
const room = (file: string) => /^src\/([\w-]+)\//.exec(file)?.[1] ?? ''
/** A feature's own folders for each protocol; everything else of it is its domain. */
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

  test('domain files know no GraphQL and no HTTP', () => {
    const transport = /^(graphql|@graphql|@pothos|@hono|hono|ws$|node:https?$|node:http2$|src\/(graphql|http)\/)/
    // A monitor speaks the protocol of what it probes.
    const isProbe = ({ file, to }: Import) => file === 'src/monitoring/probe/websocket.ts' && to === 'ws'
    expect(offences((each) => isDomain(each.file) && transport.test(each.to) && !isProbe(each))).toEqual([])
  })

  test('domain files import no protocol folders, and no room imports another’s protocol folders', () => {
    const wrong = ({ file, to }: Import) =>
      isFeature(file) && isFeature(to) && isDoor(to) && (room(file) !== room(to) || !isDoor(file))
    expect(offences(wrong)).toEqual([])
  })

  test('engines know no feature', () => {
    const engines = ['core', 'language', 'database', 'network', 'event-log', 'http', 'graphql']
    expect(offences(({ file, to }) => engines.includes(room(file)) && isFeature(to))).toEqual([])
  })

  test('runs in no circles', () => {
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

  test('reads the environment in one place, but for what loads before it, and the clock only at the start', () => {
    const containing = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(file, 'utf8')))
    expect(containing(/process\.env/).sort()).toEqual(['src/allclear.ts', 'src/core/config.ts', 'src/main.ts'])
    const starts = ['src/allclear.ts', 'src/app/start.ts', 'src/database/new-migration.ts', 'src/demo.ts']
    const inServer = (file: string) => !file.includes('/browser/')
    expect(
      containing(/Date\.now\(|new Date\(\)/)
        .filter(inServer)
        .sort(),
    ).toEqual(starts)
  })

  test('reports violations', () => {
    expect(importsOf('test/architecture.test.ts').map(({ to }) => to)).toEqual(['node:fs', 'node:path', 'vitest'])
  })
})

function importsOf(file: string): Import[] {
  const source = readFileSync(file, 'utf8')
  return [
    ...source.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'"\n;]*?|\{[^}]*\})\s*(?:from\s+)?['"]([^'"]+)['"]/gm),
  ].map(([, typeOnly, to = '']) => ({
    file,
    to: to.startsWith('.') ? relative('.', join(dirname(file), to)) : to,
    typeOnly: typeOnly !== undefined,
  }))
}
