import { execFile, execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig, settingNames } from '../../src/core/config.ts'
import { temporaryDirectory } from '../support/scratch.ts'

const run = promisify(execFile)
const read = (file: string) => readFile(join('deploy', file), 'utf8')
const settings: readonly string[] = settingNames

interface Compose {
  readonly services: Readonly<Record<string, Container>>
}
interface Container {
  readonly environment?: Readonly<Record<string, string>>
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly volumes?: readonly string[]
  readonly tmpfs?: readonly string[]
}

/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}` as Compose does. */
const interpolate = (text: string, values: Readonly<Record<string, string>>) =>
  text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind: string, rest: string) => {
    const value = values[name]
    if (value === undefined && kind !== '-') throw new Error(`${name}: ${rest}`)
    return value ?? rest
  })

describe('the compose files', () => {
  const values = { SITE: 'status.example.com', POSTGRES_PASSWORD: 'p', SECRET_KEY: 'k'.repeat(64) }

  test.each(['compose.yaml', 'compose.postgres.yaml'])(
    '%s starts a confined service with settings it takes',
    async (file) => {
      const { services } = parse(interpolate(await read(file), values), { merge: true }) as Compose
      const instances = Object.entries(services).filter(([name]) => name.startsWith('allclear'))
      expect(instances).toHaveLength(file === 'compose.yaml' ? 1 : 2)
      for (const [, { environment = {}, read_only, cap_drop, volumes = [], tmpfs = [] }] of instances) {
        expect(Object.keys(environment).filter((name) => !settings.includes(name))).toEqual([])
        expect(() => readConfig(environment)).not.toThrow()
        expect({ read_only, cap_drop }).toEqual({ read_only: true, cap_drop: ['ALL'] })
        // The one place where the service writes.
        expect([...volumes, ...tmpfs].some((entry) => /^(data:)?\/data/.test(entry))).toBe(true)
      }
    },
  )

  test('several instances need a secret key and a password', async () => {
    const text = await read('compose.postgres.yaml')
    expect(() => interpolate(text, { SITE: 'a.example', POSTGRES_PASSWORD: 'p' })).toThrow('SECRET_KEY')
  })
})

describe('the image', () => {
  test('runs as a user of no rights, keeps data in /data, and asks itself whether it runs', async () => {
    const lines = (await read('Dockerfile')).split('\n')
    expect(lines).toContain('USER 10001:10001')
    expect(lines).toContain('VOLUME /data')
    expect(lines).toContain('STOPSIGNAL SIGTERM')
    expect(lines.some((line) => line.startsWith('HEALTHCHECK') && line.includes('["allclear", "health"]'))).toBe(true)
    // Each stage of one version that the service supports.
    expect(new Set(lines.filter((line) => line.startsWith('FROM')).map((line) => line.split(' ')[1]))).toEqual(
      new Set(['node:24-slim']),
    )
  })
})

describe('the unit of systemd', () => {
  const missing = isInstalled('systemd-analyze') ? null : 'systemd is not installed'

  test('sets what the service takes', async () => {
    const assignments = [...(await read('allclear.service')).matchAll(/^Environment=(.*)$/gm)].flatMap(
      ([, line = '']) => line.split(' ').map((each) => each.split('=')[0] ?? ''),
    )
    expect(assignments.filter((name) => !name.startsWith('MALLOC_') && !settings.includes(name))).toEqual([])
  })

  test.skipIf(missing !== null)('is valid and well confined', async () => {
    const directory = await temporaryDirectory()
    const file = join(directory.path, 'allclear.service')
    await writeFile(file, (await read('allclear.service')).replace('/usr/local/bin/allclear', process.execPath))
    const { stderr } = await run('systemd-analyze', ['verify', file])
    expect(stderr.split('\n').filter((line) => line.includes('allclear.service'))).toEqual([])
    // Of 100, where less is better.
    await run('systemd-analyze', ['security', '--offline=true', '--threshold=20', file])
    await directory.remove()
  })
})

describe('the Helm chart', () => {
  test('has valid values, a schema of them, and a check before anything else', async () => {
    const [values, schema, chart] = [
      parse(await read('helm/values.yaml')),
      JSON.parse(await read('helm/values.schema.json')),
      parse(await read('helm/Chart.yaml')),
    ]
    expect(Object.keys(values)).toEqual(expect.arrayContaining(Object.keys(schema.properties)))
    const { version } = JSON.parse(await readFile('package.json', 'utf8'))
    expect(chart).toMatchObject({ version, appVersion: version })
    expect(await read('helm/templates/deployment.yaml')).toMatch(/^\{\{- include "allclear\.validate" \. -\}\}\n/)
  })

  test('uses values that exist, and closes what it opens', async () => {
    const values = parse(await read('helm/values.yaml'))
    for (const name of readdirSync('deploy/helm/templates')) {
      const text = await read(`helm/templates/${name}`)
      for (const [, path = ''] of text.matchAll(/\.Values\.([\w.]+)/g)) {
        expect(
          path.split('.').reduce((found, key) => found?.[key], values),
          `${name}: ${path}`,
        ).toBeDefined()
      }
      const openings = text.match(/\{\{-? (if|with|range|define)\b/g) ?? []
      expect(text.match(/\{\{-? end /g) ?? [], name).toHaveLength(openings.length)
    }
  })
})

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
