import { execFile } from 'node:child_process'
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Terminal } from '../../src/cli/command.ts'
import { runCommand } from '../../src/cli/run.ts'
import { testApp } from '../support/app.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { filledOrganization, mutate } from '../support/filled-organization.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { operatorToken } from '../support/service-data.ts'

const dns = await startDnsServer(scriptedLists({ 'example.com': ['203.0.113.7'] }))
const { baseUrl } = await testApp({ dns })
const home = await temporaryDirectory()
atTheEnd(home.remove)

interface Run {
  readonly code: number
  readonly out: string
  readonly said: string
}

/** What the next person answers and writes. */
let answers: string[] = []
let writes: (draft: string) => string = (draft) => draft
beforeEach(() => {
  answers = []
})

async function allclear(args: readonly string[], options: Partial<Terminal> = {}): Promise<Run> {
  const out: string[] = []
  const said: string[] = []
  const code = await runCommand(args, {
    env: { HOME: home.path, ALLCLEAR_URL: baseUrl },
    result: (line) => void out.push(line),
    say: (line) => void said.push(line),
    isPerson: false,
    hasColours: false,
    ask: async () => answers.shift() ?? null,
    edit: async (draft) => writes(draft),
    now: () => new Date(),
    signal: new AbortController().signal,
    ...options,
  })
  return { code, out: out.join('\n'), said: said.join('\n') }
}

describe('allclear', () => {
  test('lists its commands, and describes each', async () => {
    const { code, out } = await allclear(['--help'])
    expect(code).toBe(0)
    for (const name of ['check', 'status', 'incident', 'monitors', 'tail', 'plan', 'apply', 'export', 'doctor']) {
      expect(out).toMatch(new RegExp(`^ {2}${name} +\\w`, 'm'))
      const help = await allclear([name, '--help'])
      expect(help).toMatchObject({ code: 0, said: '' })
      expect(help.out).toContain('--url')
    }
  })

  test.each([['chekc'], ['toString'], ['__proto__'], ['status', '--wrong'], ['check']])(
    'refuses %s %s',
    async (...args) => {
      const { code, out, said } = await allclear(args)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(said).toMatch(/^allclear/)
    },
  )

  test('check says what lists say, with an exit code for scripts', async () => {
    const listed = await allclear(['check', '127.0.0.2'])
    expect(listed.code).toBe(2)
    expect(listed.out).toContain('listed')
    const json = await allclear(['check', '203.0.113.7', 'example.com', 'no target', '--json'])
    expect(JSON.parse(json.out)).toMatchObject([
      { target: '203.0.113.7', listedCount: 0 },
      { target: 'example.com', ipReports: [{ target: '203.0.113.7' }] },
      { target: 'no target', error: { message: expect.stringContaining('one target at a time') } },
    ])
  })

  test('status, monitors and incidents of an organization', async () => {
    const acme = await filledOrganization(baseUrl, {
      startsAt: new Date('2030-01-01T00:00:00Z'),
      endsAt: new Date('2030-01-01T02:00:00Z'),
    })
    const key = ['--key', acme.key]
    const page = await allclear(['status', ...key])
    expect(page.out).toContain('Acme')
    expect(JSON.parse((await allclear(['status', acme.slug, '--json'])).out)).toMatchObject({ slug: acme.slug })
    expect((await allclear(['monitors', ...key])).out).toMatch(/paused/)

    await mutate(baseUrl, acme.key, 'createService', 'Service', { name: 'Payments API' })
    writes = (draft) => draft.replace(/^\n/, 'Payments fail\n\nCards are *declined*.\n')
    const opened = await allclear([
      'incident',
      'open',
      '--service',
      'payments api=partial outage',
      '--impact',
      'major',
      ...key,
    ])
    expect(opened).toMatchObject({ code: 0, said: '' })
    const id = opened.out.split(/\s+/).at(-1) ?? ''
    expect(opened.out).toContain('Payments fail: investigating')
    expect((await allclear(['status', acme.slug])).code).toBe(2)

    writes = (draft) => draft
    expect(await allclear(['incident', 'update', id, ...key])).toMatchObject({ code: 1, out: '' })
    const updated = await allclear(['incident', 'update', id, '-m', 'Found it.', '--status', 'identified', ...key])
    expect(updated.out).toContain('identified')
    const resolved = await allclear(['incident', 'resolve', id, '--message', 'Over.', '--json', ...key])
    expect(JSON.parse(resolved.out)).toMatchObject({ id, status: 'RESOLVED' })
  })

  test('without an id, the one open incident is meant; among several, none', async () => {
    const { key } = await newOrganization(baseUrl)
    const open = (title: string) => allclear(['incident', 'open', '--title', title, '-m', 'We look.', '--key', key])
    expect((await allclear(['incident', 'resolve', '-m', 'Over.', '--key', key])).said).toContain('No incident is open')
    await open('One')
    await open('Two')
    const { code, said } = await allclear(['incident', 'update', '-m', 'More.', '--key', key])
    expect(code).toBe(1)
    expect(said).toMatch(/One[\s\S]*Two|Two[\s\S]*One/)
    expect((await allclear(['incident', 'open', '--title', 'x', '-m', 'y'])).said).toContain('allclear login')
  })

  test('tail writes one event a line, until it is interrupted', async () => {
    const { key } = await newOrganization(baseUrl)
    const ending = new AbortController()
    const lines: string[] = []
    const tailing = allclear(['tail', '--json', '--key', key], {
      signal: ending.signal,
      result: (line) => {
        lines.push(line)
        if (line.includes('SERVICE_CREATED')) ending.abort()
      },
    })
    const creating = expect.poll(async () => {
      await mutate(baseUrl, key, 'createService', 'Service', { name: `S ${lines.length}` })
      return ending.signal.aborted
    })
    await creating.toBe(true)
    expect((await tailing).code).toBe(0)
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ event: { kind: 'SERVICE_CREATED' } })
  })

  test('plan, apply and export of a configuration file', async () => {
    const { key } = await newOrganization(baseUrl)
    const env = { HOME: home.path, ALLCLEAR_URL: baseUrl, ALLCLEAR_KEY: key, SERVICE_NAME: 'API' }
    const file = join(home.path, 'acme.yaml')
    const write = (yaml: string) => writeFile(file, `allclear: 1\n${yaml}`)
    const run = (...args: string[]) => allclear(args, { env })
    const place = (name: string) => `$\{${name}}`

    await write(`services:\n  api: { name: "${place('SERVICE_NAME')}" }\n  site: { name: Site }\n`)
    const planned = await run('plan', file)
    expect(planned).toMatchObject({ code: 2, said: '' })
    expect(planned.out).toContain('+ services.api')
    const json = await run('plan', file, '--json')
    expect(JSON.parse(json.out)).toMatchObject([{ file, changeCount: 2, drift: [], changes: [{ key: 'api' }, {}] }])
    expect(json.out).not.toContain('variables')

    await write(`services:\n  api: { name: "${place('SERVICE_SUFFIX')}" }\n`)
    const missing = await run('plan', file)
    expect(missing).toMatchObject({ code: 1, out: '' })
    expect(missing.said).toContain(`${file}:3: services.api.name: ${place('SERVICE_SUFFIX')} has no value`)

    await write(`services:\n  api: { name: "${place('SERVICE_NAME')}" }\n  site: { name: Site }\n`)
    const unasked = await run('apply', file)
    expect(unasked).toMatchObject({ code: 1, said: expect.stringContaining('--yes') })
    answers = ['no']
    expect(await run('apply', file)).toMatchObject({ code: 1, said: 'allclear apply: Nothing was changed.' })
    expect((await run('plan', file)).code).toBe(2)
    answers = ['y']
    expect(await run('apply', file)).toMatchObject({ code: 0, said: 'Applied.' })
    expect(await run('plan', file)).toEqual({ code: 0, out: `${file}: nothing changes.`, said: '' })

    const exported = await run('export')
    expect(exported.out).toMatch(/^services:\n {2}api:\n {4}name: API/m)
    await writeFile(file, exported.out)
    expect((await run('plan', file)).code).toBe(0)

    await write('services:\n  api: { name: API }\n')
    expect((await run('plan', file)).out).toContain('. services.site  Site (stays, no longer managed)')
    expect((await run('apply', file, '--delete', '--max-deletions', '0', '-y')).said).toContain('--max-deletions')
    const applied = await run('apply', file, '--delete', '--yes', '--json')
    expect(applied.code).toBe(0)
    expect(JSON.parse(applied.out)).toMatchObject([{ file, changes: [{ action: 'DELETE', key: 'site' }] }])
    expect(applied.out).not.toContain('allclear: 1')
    expect((await run('plan', file, join(home.path, 'x', 'acme.yaml'))).said).toContain('Two files are called')
    expect((await run('plan', join(home.path, 'none.yaml'))).said).toContain('cannot be read')
    await rm(file)
  })

  test('apply does what was shown, or nothing', async () => {
    const { key } = await newOrganization(baseUrl)
    const env = { HOME: home.path, ALLCLEAR_URL: baseUrl, ALLCLEAR_KEY: key }
    const file = join(home.path, 'race.yaml')
    await writeFile(file, 'allclear: 1\nservices:\n  api: { name: API, description: Ours }\n')
    const { code, said } = await allclear(['apply', file], {
      env,
      ask: async () => {
        await mutate(baseUrl, key, 'createService', 'Service', { name: 'API' })
        return 'y'
      },
    })
    expect(code).toBe(1)
    expect(said).toContain('Plan again')
    const again = await allclear(['apply', file, '--yes'], { env })
    expect(again.out).toContain('services.api  API (exists, and is taken over)')
    await mutate(baseUrl, key, 'createService', 'Service', { name: 'Other' })
    expect((await allclear(['plan', file], { env })).code).toBe(0)
    await rm(file)
  })

  test('login keeps a key in a file of its own, which is sent to its own service alone', async () => {
    const { key } = await newOrganization(baseUrl)
    answers = [key]
    const env = { HOME: home.path }
    const login = await allclear(['login', '--url', baseUrl], { env })
    expect(login.said).toContain('The key belongs to Acme.')
    expect(login.out).toBe('')
    const file = join(home.path, '.config/allclear/profiles.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ default: { url: baseUrl, key } })
    expect(await allclear(['monitors'], { env })).toMatchObject({ code: 0, said: 'There are no monitors yet.' })
    const elsewhere = baseUrl.replace('localhost', '127.0.0.1').replace('127.0.0.1', '[::ffff:127.0.0.1]')
    expect((await allclear(['monitors', '--url', elsewhere], { env })).code).toBe(1)
    await chmod(file, 0o644)
    expect((await allclear(['monitors'], { env })).said).toContain(`chmod 600 ${file}`)
    await rm(file)
  })

  test('doctor examines what surrounds the service, with the line that mends it', async () => {
    const { code, out } = await allclear(['doctor', '--json'], {
      env: { ALLCLEAR_URL: baseUrl, SMTP_URL: 'smtp://127.0.0.1:9', DATABASE_URL: 'postgresql://127.0.0.1:9/x' },
      now: () => new Date(Date.now() + 60_000),
    })
    expect(code).toBe(2)
    const findings: { subject: string; state: string; mend?: string }[] = JSON.parse(out)
    const states = Object.fromEntries(findings.map(({ subject, state }) => [subject, state]))
    expect(states).toMatchObject({ service: 'ok', clock: 'warning', websocket: 'ok', mail: 'error', server: 'error' })
    for (const { state, mend } of findings) if (state !== 'ok') expect(mend).toBeDefined()
    const elsewhere = await allclear(['doctor'], { env: { ALLCLEAR_URL: baseUrl } })
    expect(elsewhere.out).toMatch(/mail +is not set up.*\n +→ SMTP_URL=smtp:/)
    const nowhere = await allclear(['doctor', '--url', 'http://127.0.0.1:9'])
    expect(nowhere.out).toContain('does not answer')
  })

  test.each(['bash', 'zsh', 'fish'])('completion of %s', async (shell) => {
    const { code, out } = await allclear(['completion', shell])
    expect(code).toBe(0)
    expect(out).toContain('doctor')
    if (shell !== 'bash') return
    const script = `${out}\nCOMP_WORDS=(allclear incident re) COMP_CWORD=2; _allclear; echo "\${COMPREPLY[@]}"`
    expect((await promisify(execFile)('bash', ['-c', script])).stdout).toBe('resolve\n')
  })

  test('colours only where a person looks', async () => {
    expect((await allclear(['check', '127.0.0.2'])).out).not.toContain('\u001b')
    expect((await allclear(['check', '127.0.0.2'], { hasColours: true })).out).toContain('\u001b[31m')
  })

  test('import says what would come along, makes it, and finds it again', async () => {
    const { key } = await newOrganization(baseUrl)
    const monitorOf = (id: number, more: object) => ({
      id,
      name: `Site ${id}`,
      type: 'http',
      active: true,
      interval: 60,
      url: `https://site${id}.example.com/`,
      ...more,
    })
    const file = join(home.path, 'kuma.json')
    const place = '$' + '{HOME}'
    const backup = (monitorList: readonly object[]) =>
      writeFile(file, JSON.stringify({ version: '1.23.16', notificationList: [], monitorList }))
    const given = ['import', '--from', 'uptime-kuma', file, '--key', key]
    const rowsOf = async (...more: string[]) => {
      const { code, out } = await allclear([...given, '--json', ...more])
      const rows: { outcome: string; section: string; name: string; reason: string }[] = JSON.parse(out).rows
      return { code, rows: rows.map(({ outcome, section, name }) => `${outcome} ${section} ${name}`) }
    }
    await backup([
      monitorOf(1, {}),
      monitorOf(2, { interval: 5 }),
      monitorOf(3, { type: 'docker' }),
      monitorOf(4, { url: 'ftp://site4.example.com', name: `Site 4 ${place}` }),
    ])
    const first = [
      'CREATED services Site 1',
      'CREATED services Site 2',
      'CREATED monitors Site 1',
      'CREATED monitors Site 2',
      `SKIPPED monitors Site 4 ${place}`,
      'PARTLY monitors Site 2',
      `SKIPPED services Site 4 ${place}`,
      'SKIPPED monitors Site 3',
    ]
    const dry = await rowsOf()
    expect(dry.code).toBe(2)
    expect(dry.rows.sort()).toEqual([...first].sort())
    expect((await allclear(['monitors', '--key', key])).said).toContain('no monitors yet')
    expect((await rowsOf('--apply')).code).toBe(0)
    expect((await allclear(['monitors', '--key', key, '--json'])).out).toContain('Site 2')

    const again = await allclear(given)
    expect(again).toMatchObject({ code: 0, said: 'Nothing to do.' })
    await backup([monitorOf(1, { name: 'Renamed' })])
    const later = await rowsOf('--apply')
    expect(later.rows.sort()).toEqual([
      'CHANGED monitors Renamed',
      'CHANGED services Renamed',
      'RELEASED monitors Site 2',
      'RELEASED services Site 2',
    ])
    expect(await allclear(['import', '--from', 'uptime-kuma', '/nowhere', '--key', key])).toMatchObject({ code: 1 })
    expect((await allclear(['import', '--from', 'gatus', file, '--key', key])).said).toContain('no endpoints')
    expect((await allclear(['import', file])).said).toContain('--from uptime-kuma')
  })

  test('import fetches from a source in its own network', async () => {
    const { key } = await newOrganization(baseUrl)
    const receiver = createServer((request, response) => {
      const isFound = request.url?.startsWith('/api/components') ?? false
      response.statusCode = isFound ? 200 : 404
      response.end(JSON.stringify({ data: [{ id: '1', attributes: { name: 'API' } }] }))
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    await using _ = { [Symbol.asyncDispose]: async () => void receiver.close() }
    const { port } = receiver.address() as AddressInfo
    const from = (...more: string[]) => allclear(['import', '--from', 'cachet', ...more, '--key', key, '--json'])
    const { code, out } = await from('--fetch', `http://127.0.0.1:${port}`)
    expect([code, JSON.parse(out).changeCount]).toEqual([2, 1])
    expect((await from('--fetch', 'http://127.0.0.1:1')).said).toContain('address: the source does not answer')
    expect((await from('--fetch')).said).toContain('Name the page')
    expect((await allclear(['import', '--from', 'gatus', '--fetch', '--key', key])).said).toContain('cannot be fetched')
  })

  test('import takes 500 monitors in one request, which is compressed', async () => {
    const { id: organizationId, key } = await newOrganization(baseUrl)
    await mutate(baseUrl, operatorToken, 'setTier', 'Organization', { organizationId, tier: 'TEAM' })
    const file = join(home.path, 'many.json')
    const monitorList = Array.from({ length: 1500 }, (_, id) => ({
      id,
      name: `Site number ${id}`,
      type: 'http',
      url: `https://site${id}.example.com/health`,
      interval: 60,
    }))
    await writeFile(file, JSON.stringify({ monitorList: monitorList.slice(0, 500) }))
    const given = ['import', '--from', 'uptime-kuma', file, '--key', key, '--json']
    expect(JSON.parse((await allclear([...given, '--apply'])).out)).toMatchObject({ applied: true, changeCount: 1000 })
    expect(JSON.parse((await allclear(given)).out)).toMatchObject({ changeCount: 0, rows: [] })
    await writeFile(file, JSON.stringify({ monitorList }))
    expect((await allclear(given)).said).toContain('This makes 3000 objects')
  })
})
