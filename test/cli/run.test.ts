// @slow
import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Terminal } from '../../src/cli/command.ts'
import { commands, runCommand } from '../../src/cli/run.ts'
import { testApp } from '../support/app.ts'
import { atTheEnd } from '../support/at-the-end.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { filledOrganization, mutate } from '../support/filled-organization.ts'
import { newOrganization } from '../support/graphql-client.ts'
import { isInstalled } from '../support/installed.ts'
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

/** The next answers at the prompt, and the next edit of a draft. */
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
    document: (text) => void out.push(text.replace(/\n$/, '')),
    say: (line) => void said.push(line),
    progress: () => undefined,
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
  test('lists its commands', async () => {
    for (const asked of [['--help'], ['-h'], ['help']]) {
      const { code, out, said } = await allclear(asked)
      expect({ code, said }).toEqual({ code: 0, said: '' })
      for (const name of Object.keys(commands)) expect(out).toMatch(new RegExp(`^ {2}${name} +\\w`, 'm'))
    }
    expect((await allclear(['--version'])).out).toMatch(/^\d+\.\d+\.\d+/)
  })

  test.each(Object.entries(commands))(
    'describes %s: usage, options, examples and exit codes',
    async (name, command) => {
      const { code, out, said } = await allclear([name, '--help'])
      expect({ code, said }).toEqual({ code: 0, said: '' })
      expect(await allclear(['help', name])).toEqual({ code, out, said })
      const [usage = '', ...rest] = out.split('\n')
      expect(usage).toBe(`allclear ${name} ${command.usage}`.trim())
      const [about = '', options = '', examples = '', codes = ''] = rest
        .join('\n')
        .split(/\n(?:Options|Examples|Exit codes)\n/)
      expect(about).toContain(command.summary)
      for (const option of [...Object.keys(command.options ?? {}), 'url', 'key', 'profile', 'json', 'help']) {
        expect(options).toMatch(new RegExp(`^ {2}(-\\w, | {4})--${option}( …)? +\\w`, 'm'))
      }
      expect(command.examples.length).toBeGreaterThan(0)
      for (const example of command.examples) {
        expect(examples).toContain(`  ${example}`)
        expect(example).toMatch(name === 'serve' ? /\ballclear$/ : new RegExp(`\\ballclear ${name}\\b`))
      }
      expect(codes).toMatch(/^ {2}0 +\w.*\n/)
      expect(codes).toMatch(/^ {2}1 +failed/m)
    },
  )

  test('the guide lists every command with its exit codes', async () => {
    const guide = await readFile('docs/command-line.md', 'utf8')
    for (const [name, { exitCodes }] of Object.entries(commands)) {
      const row = guide
        .split('\n')
        .find((line) => new RegExp(`^\\|.*\`allclear${name === 'serve' ? '' : ` ${name}`}[\` ]`).test(line))
      expect(row, name).toBeDefined()
      const codes = Object.keys(exitCodes).filter((code) => code !== '0')
      for (const code of codes) expect(row, name).toMatch(new RegExp(`\\b${code} `))
    }
  })

  test('suggests a similar command', async () => {
    expect((await allclear(['chekc'])).said).toContain('There is no command “chekc”. Did you mean “check”?')
    expect((await allclear(['monitor'])).said).toContain('Did you mean “monitors”?')
    expect((await allclear(['x'.repeat(100_000)])).said).not.toContain('Did you mean')
    expect((await allclear(['serve', '--port', '80'])).code).toBe(1)
    expect((await allclear(['serve', 'now'])).said).toContain('Set environment variables')
  })

  test.each([['chekc'], ['toString'], ['__proto__'], ['status', '--wrong'], ['check']])(
    'refuses %s %s',
    async (...args) => {
      const { code, out, said } = await allclear(args)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(said).toMatch(/^allclear/)
    },
  )

  test('check prints the answers of lists and returns an exit code', async () => {
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

  test('shows the status and monitors of an organization, and manages its incidents', async () => {
    const acme = await filledOrganization(baseUrl, {
      startsAt: new Date('2030-01-01T00:00:00Z'),
      endsAt: new Date('2030-01-01T02:00:00Z'),
    })
    const key = ['--key', acme.key]
    const page = await allclear(['status', ...key])
    expect(page.out).toContain('Acme')
    expect(JSON.parse((await allclear(['status', acme.slug, '--json'])).out)).toMatchObject({ slug: acme.slug })
    expect((await allclear(['monitors', ...key])).out).toMatch(/paused/)

    await mutate(baseUrl, acme.key, 'createService', 'Service', { name: 'Payments API', status: 'OPERATIONAL' })
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

  test('without an id, incident uses the only open incident, and refuses to choose among several', async () => {
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

  test('tail prints one event per line until it is interrupted', async () => {
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

  test('plans, applies and exports a configuration file', async () => {
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
    expect(await run('plan', file)).toEqual({ code: 0, out: `${file}: no changes.`, said: '' })

    const exported = await run('export')
    expect(exported.out).toMatch(/^services:\n {2}api:\n {4}name: API/m)
    await writeFile(file, exported.out)
    expect((await run('plan', file)).code).toBe(0)

    const renamed = exported.out.replace('  api:', '  public-api:')
    await writeFile(file, `${renamed}\nmoved: [{ from: services.api, to: services.public-api }]\n`)
    const moving = await run('plan', file)
    expect(moving.code).toBe(2)
    expect(moving.out).toContain('> services.api becomes services.public-api\n')
    expect((await run('apply', file, '--yes')).said).toBe('Applied.')
    expect(await run('plan', file)).toMatchObject({ code: 0, out: `${file}: no changes.` })
    await write('services:\n  api: { name: API }\nmoved: [{ from: services.public-api, to: services.api }]\n')
    await run('apply', file, '--yes')

    await write('services:\n  api: { name: API }\n  site: { name: Site }\n')
    await run('apply', file, '--yes')
    await write('services:\n  api: { name: API }\n')
    expect((await run('plan', file)).out).toContain('. services.site  Site (stays, no longer managed)')
    expect((await run('apply', file, '--delete', '--max-deletions', '0', '-y')).said).toContain('--max-deletions')
    // One of two objects exceeds a fifth.
    expect((await run('plan', file, '--delete')).out).toContain('It deletes 1 of the 2 objects')
    const limited = await run('apply', file, '--delete', '--yes')
    expect(limited).toMatchObject({ code: 1, said: expect.stringContaining('--max-deletions 1') })
    const applied = await run('apply', file, '--delete', '--max-deletions', '1', '--yes', '--json')
    expect(applied.code).toBe(0)
    expect(JSON.parse(applied.out)).toMatchObject([{ file, changes: [{ action: 'DELETE', key: 'site' }] }])
    expect(applied.out).not.toContain('allclear: 1')
    expect((await run('plan', file, join(home.path, 'x', 'acme.yaml'))).said).toContain('Two files are called')
    expect((await run('plan', join(home.path, 'none.yaml'))).said).toContain('Cannot read')
    await rm(file)
  })

  test('plan and import show their progress separately from results', async () => {
    const { key } = await newOrganization(baseUrl)
    const env = { HOME: home.path, ALLCLEAR_URL: baseUrl, ALLCLEAR_KEY: key }
    const shown: (string | null)[] = []
    const progress = (text: string | null) => void shown.push(text)
    const file = join(home.path, 'progress.yaml')
    await writeFile(file, 'allclear: 1\nservices:\n  api: { name: API }\n')
    const planned = await allclear(['plan', file, '--json'], { env, progress })
    expect(JSON.parse(planned.out)).toMatchObject([{ changeCount: 1 }])
    expect(shown).toEqual([`Planning ${file} …`, null])
    shown.length = 0
    expect((await allclear(['plan', `${file}.none`], { env, progress })).code).toBe(1)
    expect(shown.at(-1)).toBeNull()
    await writeFile(file, 'type,email\nemail,ana@a.example\n')
    shown.length = 0
    await allclear(['import', '--from', 'statuspage', file, '--apply', '--json'], { env, progress })
    expect(shown).toEqual([
      'Reading Atlassian Statuspage …',
      'Planning …',
      'Importing 0 objects …',
      'Importing history, incidents and subscribers: 0 of 1 …',
      null,
    ])
    await rm(file)
  })

  test('apply changes nothing if the plan is outdated', async () => {
    const { key } = await newOrganization(baseUrl)
    const env = { HOME: home.path, ALLCLEAR_URL: baseUrl, ALLCLEAR_KEY: key }
    const file = join(home.path, 'race.yaml')
    await writeFile(file, 'allclear: 1\nservices:\n  api: { name: API, description: Ours }\n')
    const { code, said } = await allclear(['apply', file], {
      env,
      ask: async () => {
        await mutate(baseUrl, key, 'createService', 'Service', { name: 'API', status: 'OPERATIONAL' })
        return 'y'
      },
    })
    expect(code).toBe(1)
    expect(said).toContain('Plan again')
    const again = await allclear(['apply', file, '--yes'], { env })
    expect(again.out).toContain('services.api  API (exists, taken over)')
    await mutate(baseUrl, key, 'createService', 'Service', { name: 'Other', status: 'OPERATIONAL' })
    expect((await allclear(['plan', file], { env })).code).toBe(0)
    await rm(file)
  })

  test('login stores a key in a private file, and the key is sent only to its service', async () => {
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

  test('doctor examines the environment of the service and suggests fixes', async () => {
    const { code, out } = await allclear(['doctor', '--json'], {
      env: { ALLCLEAR_URL: baseUrl, SMTP_URL: 'smtp://127.0.0.1:9', DATABASE_URL: 'postgresql://127.0.0.1:9/x' },
      now: () => new Date(Date.now() + 60_000),
    })
    expect(code).toBe(2)
    const findings: { subject: string; code: string; severity: string; fix: string | null }[] = JSON.parse(out)
    const local = ['MAIL_UNREACHABLE', 'DATABASE_UNREACHABLE']
    expect(findings.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['SERVICE_OK', 'CLOCK_OFF', 'WEBSOCKET_OK', ...local]),
    )
    for (const { severity, fix } of findings) expect(fix === null).toBe(severity === 'ok')
    const elsewhere = await allclear(['doctor'], { env: { ALLCLEAR_URL: baseUrl } })
    expect(elsewhere.out).toMatch(/mail +Email is not set up.*\n +→ SMTP_URL=smtp:/)
    const nowhere = await allclear(['doctor', '--url', 'http://127.0.0.1:9'])
    expect(nowhere.out).toContain('does not answer')
  })

  describe('completion', () => {
    /** Returns bash's completions of lines, from the function that `complete` registered. */
    async function completed(lines: readonly string[]): Promise<string[][]> {
      const { out } = await allclear(['completion', 'bash'])
      const asked = lines.map((line) => {
        const words = line.split(' ').map((word) => `'${word}'`)
        return `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; COMPREPLY=(); "$complete"; echo "\${COMPREPLY[*]}"`
      })
      const registered = `complete=$(complete -p allclear | sed -E 's/.*-F (\\S+) .*/\\1/')`
      const { stdout } = await promisify(execFile)('bash', ['-c', [out, registered, ...asked].join('\n')])
      return stdout
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => line.split(' ').filter((word) => word !== ''))
    }

    test('bash completes every command with its words and options', async () => {
      const names = Object.keys(commands)
      const [first, ...others] = await completed(['allclear ', ...names.map((name) => `allclear ${name} `)])
      expect(first).toEqual([...names, '--help', '--version'])
      for (const [index, name] of names.entries()) {
        const { words = [], options = {} } = commands[name] ?? {}
        const own = [...Object.keys(options), 'url', 'key', 'profile', 'json', 'help'].map((option) => `--${option}`)
        expect(others[index]).toEqual([...words, ...own])
      }
    })

    test('bash completes partial words and option values, and otherwise file names', async () => {
      const lines = [
        'allclear inc',
        'allclear incident re',
        'allclear incident open --st',
        'allclear incident open --status ',
      ]
      expect(await completed([...lines, 'allclear import --from uptime', 'allclear nothing --'])).toEqual([
        ['incident'],
        ['resolve'],
        ['--status'],
        ['INVESTIGATING', 'IDENTIFIED', 'MONITORING', 'RESOLVED'],
        ['uptime-kuma', 'uptimerobot'].filter((source) => commands['import']?.values?.['from']?.includes(source)),
        [],
      ])
      const [value, short] = await completed(['allclear incident open --title ', 'allclear incident open -m '])
      expect([value, short]).toEqual([undefined, undefined].map(() => []))
    })

    test.each(['zsh', 'fish'] as const)('the script for %s contains every command and option', async (shell) => {
      const { code, out } = await allclear(['completion', shell])
      expect(code).toBe(0)
      for (const [name, { options = {} }] of Object.entries(commands)) {
        expect(out).toContain(name)
        for (const option of Object.keys(options)) expect(out).toMatch(new RegExp(`(--|-l )${option}\\b`))
      }
      if (isInstalled(shell, '--version')) await promisify(execFile)(shell, ['-n', '-c', out])
    })

    test('refuses an unknown shell', async () => {
      expect(await allclear(['completion', 'cmd'])).toMatchObject({
        code: 1,
        said: expect.stringContaining('bash, zsh, fish'),
      })
    })
  })

  test('uses colours only on a terminal', async () => {
    expect((await allclear(['check', '127.0.0.2'])).out).not.toContain('\u001b')
    expect((await allclear(['check', '127.0.0.2'], { hasColours: true })).out).toContain('\u001b[31m')
  })

  test('import lists the changes, applies them, and updates them on a second run', async () => {
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
    expect(later.rows.sort()).toEqual(['CHANGED monitors Renamed', 'CHANGED services Renamed'])
    // The next import finds an object that was missing from the previous one.
    await backup([monitorOf(1, { name: 'Renamed' }), monitorOf(2, {})])
    expect((await rowsOf('--apply')).rows).toEqual(['CHANGED monitors Site 2'])
    // Another installation with the same ids needs a name.
    await backup([monitorOf(1, { name: 'Wiki' }), monitorOf(2, { name: 'Chat' })])
    expect((await allclear(given)).said).toContain('looks like another Uptime Kuma')
    expect((await allclear([...given, '--name', 'An office'])).said).toContain('--name must be')
    const named = await rowsOf('--name', 'office', '--apply')
    expect(named.rows.filter((row) => row.startsWith('CREATED services'))).toEqual([
      'CREATED services Wiki',
      'CREATED services Chat',
    ])
    expect((await rowsOf('--name', 'office')).rows).toEqual([])
    expect(await allclear(['import', '--from', 'uptime-kuma', '/nowhere', '--key', key])).toMatchObject({ code: 1 })
    expect((await allclear(['import', '--from', 'gatus', file, '--key', key])).said).toContain('no endpoints')
    expect((await allclear(['import', file])).said).toContain('--from uptime-kuma')
    const directory = join(home.path, 'gatus')
    await mkdir(directory)
    for (const name of ['one', 'two']) {
      const text = `endpoints: [{ name: ${name}, url: "https://${name}.example" }]`
      await writeFile(join(directory, `${name}.yaml`), text)
    }
    const merged = await allclear(['import', '--from', 'gatus', directory, '--key', key, '--json'])
    expect(
      JSON.parse(merged.out).rows.filter(({ section }: { section: string }) => section === 'monitors'),
    ).toHaveLength(2)
    const other = await allclear(['import', '--from', 'upptime', directory, '--key', key])
    expect([other.code, other.said]).toEqual([1, expect.stringContaining('is a directory')])
  })

  test('import fetches from a source in the network of the command line', async () => {
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
    expect((await from('--fetch')).said).toContain('Give the address of the page')
    expect((await allclear(['import', '--from', 'gatus', '--fetch', '--key', key])).said).toContain('cannot fetch')
  })

  test('import sends 500 monitors in one compressed request', async () => {
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
    const dry = JSON.parse((await allclear(given)).out)
    // The plan lists 500 changes.
    expect(dry.rows.slice(500)).toMatchObject([{ outcome: 'CREATED', section: 'monitors', name: '500 more' }])
    expect(JSON.parse((await allclear([...given, '--apply'])).out)).toMatchObject({ applied: true, changeCount: 1000 })
    expect(JSON.parse((await allclear(given)).out)).toMatchObject({ changeCount: 0, rows: [] })
    await writeFile(file, JSON.stringify({ monitorList }))
    expect((await allclear(given)).said).toContain('This has 3000 objects')
  })
})
