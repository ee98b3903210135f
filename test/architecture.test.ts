import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

interface Import {
  readonly file: string
  /** A path under `src/`, or the name of a package. */
  readonly to: string
  readonly typeOnly: boolean
}

/** Features from the bottom up: each may use those before it, and no other. */
const rank = ['account', 'blacklist', 'status', 'monitoring', 'notification', 'billing', 'page']
const doors = new Set(['graphql.ts', 'rest.ts', 'rest-schema.ts', 'openapi.ts', 'html.tsx', 'webhook.ts'])

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(tsx?|m?js)$/.test(file) && !file.startsWith('generated'))
  .map((file) => `src/${file}`)
const imports = files.flatMap(importsOf)
const room = (file: string) => /^src\/([\w-]+)\//.exec(file)?.[1] ?? ''
const isDoor = (file: string) => doors.has(basename(file)) || /^src\/[\w-]+\/(graphql|html|browser)\//.test(file)
const isFeature = (file: string) => rank.includes(room(file))
const isDomain = (file: string) => isFeature(file) && !isDoor(file)
const offences = (bad: (found: Import) => boolean) => imports.filter(bad).map(({ file, to }) => `${file} → ${to}`)

describe('the house', () => {
  test('has rooms that are known', () => {
    const known = [...rank, '', 'demo', 'database', 'eventlog', 'network', 'graphql', 'http']
    expect(files.filter((file) => !known.includes(room(file)))).toEqual([])
  })

  test('domain files know no GraphQL and no HTTP', () => {
    const transport = /^(graphql|@graphql|@pothos|@hono|hono|ws$|node:https?$|node:http2$|src\/(graphql|http)\/)/
    expect(offences(({ file, to }) => isDomain(file) && transport.test(to))).toEqual([])
  })

  test('domain files do not import doors', () => {
    expect(offences(({ file, to }) => isDomain(file) && isDoor(to))).toEqual([])
  })

  test('features use only the domain of lower ones', () => {
    const upward = ({ file, to }: Import) =>
      isFeature(file) &&
      isFeature(to) &&
      room(file) !== room(to) &&
      (rank.indexOf(room(to)) > rank.indexOf(room(file)) || isDoor(to))
    expect(offences(upward)).toEqual([])
  })

  test('network and database know no feature', () => {
    const low = ['network', 'database', 'eventlog']
    expect(
      offences(({ file, to }) => low.includes(room(file)) && (isFeature(to) || /^src\/(graphql|http)\//.test(to))),
    ).toEqual([])
  })

  test('only the schema and the router bring doors in', () => {
    const joins = (file: string) => /^src\/(graphql\/schema|http\/router)\.ts$/.test(file)
    expect(offences(({ file, to }) => isDoor(to) && room(file) !== room(to) && !joins(file))).toEqual([])
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

  test('reads the environment in one place, and the clock where it starts', () => {
    const containing = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(file, 'utf8')))
    expect(containing(/process\.env/)).toEqual(['src/config.ts'])
    const starts = ['src/app.ts', 'src/demo.ts', 'src/database/new-migration.ts']
    const inServer = (file: string) => !file.includes('/browser/')
    expect(containing(/Date\.now\(|new Date\(\)/).filter(inServer)).toEqual(starts)
  })

  test('finds what is wrong when something is', () => {
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
