// @slow
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { atTheEnd } from './support/at-the-end.ts'
import { startDnsServer } from './support/dns-server.ts'
import { type ServiceProcess, startService } from './support/process.ts'
import { scriptedLists } from './support/scripted-lists.ts'
import { testData } from './support/service-data.ts'

const dns = await startDnsServer(scriptedLists())
const started: ServiceProcess[] = []
afterAll(async () => {
  for (const service of started) service.signal('SIGKILL')
  await Promise.all(started.map(({ ended }) => ended))
})

async function ownData(): Promise<NodeJS.ProcessEnv> {
  const data = await testData()
  atTheEnd(data.remove)
  return { DATA_DIR: data.dataDir, ...data.settings }
}

function startAllclear(settings: NodeJS.ProcessEnv): ServiceProcess {
  const service = startService(dns, settings, 'allclear')
  started.push(service)
  return service
}

/** The process in which the service runs: the second one where Node.js cannot restart a program in the same one. */
function servingProcess(first: number): number {
  const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim()
  return children === '' ? first : Number(children.split(' ')[0])
}

/** The processes whose parent, or whose parent's parent and so on, is this one. */
function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number)
  return children.flatMap((child) => [child, ...descendants(child)])
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('allclear, without a command', () => {
  test('serves with the memory settings, and ends with 0 and all its processes on SIGTERM', async () => {
    const service = startAllclear(await ownData())
    const url = await service.ready()
    const serving = servingProcess(service.pid)
    expect(readFileSync(`/proc/${serving}/environ`, 'latin1').split('\0')).toContain('MALLOC_ARENA_MAX=2')
    expect(readFileSync(`/proc/${serving}/cmdline`, 'latin1')).toContain('--v8-pool-size=1')
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    service.signal('SIGTERM')
    expect(await service.ended).toEqual({ code: 0, signal: null })
    expect(service.output()).toContain('app: stopped')
    expect(isRunning(serving)).toBe(false)
  })

  test('ends with the exit code of a service that cannot start', async () => {
    const service = startAllclear({ ...(await ownData()), PORT: 'none' })
    expect(await service.ended).toEqual({ code: 1, signal: null })
    expect(service.output()).toContain('PORT')
  })

  test('ends by the signal that ends the service', async () => {
    const service = startAllclear(await ownData())
    await service.ready()
    process.kill(servingProcess(service.pid), 'SIGKILL')
    expect(await service.ended).toEqual({ code: null, signal: 'SIGKILL' })
  })

  test('leaves no second process behind when the first one is killed', async () => {
    const service = startAllclear(await ownData())
    await service.ready()
    const serving = servingProcess(service.pid)
    service.signal('SIGKILL')
    await expect.poll(() => isRunning(serving)).toBe(false)
    await service.ended
    if (serving !== service.pid) expect(service.output()).toContain('app: stopped')
  })
})

interface NpmScript {
  readonly child: ChildProcess
  /** Resolves when all its processes have closed their output. */
  readonly ended: Promise<unknown[]>
  wrote(text: string): Promise<void>
}

/** Runs a script of package.json in a process group of its own, as a terminal does. */
async function startScript(args: readonly string[], shell: string): Promise<NpmScript> {
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, npm_config_script_shell: shell, PORT: '0', HOST: '127.0.0.1', ...(await ownData()) }
  const child = spawn('npm', args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let written = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (written += text))
  atTheEnd(async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL')
  })
  return {
    child,
    ended: once(child, 'close'),
    wrote: (text) => expect.poll(() => written).toContain(text),
  }
}

describe('the scripts of package.json', () => {
  const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(readFileSync('package.json', 'utf8'))

  test.each(Object.entries(scripts))('%s needs no particular shell', (_, script) => {
    expect(script).not.toMatch(/[$`'\\;|<>()*]|(^|&& )(\w+=|exec |cd |export )|[^&]&[^&]/)
  })

  const plainShell = resolve('test/support/plain-shell.mjs')
  test.each([
    ['the shell of this system', '/bin/sh'],
    ['a shell that knows no variables', plainShell],
  ])('start serves in %s, and Ctrl-C ends all processes', async (_, shell) => {
    const script = await startScript(['start'], shell)
    await script.wrote('ready: open ')
    const processes = descendants(script.child.pid ?? 0)
    expect(processes.length).toBeGreaterThan(1)
    process.kill(-(script.child.pid ?? 0), 'SIGINT')
    await script.ended
    await script.wrote('app: stopped')
    await expect.poll(() => processes.filter(isRunning)).toEqual([])
  })

  test('start passes SIGTERM on to the service', async () => {
    const script = await startScript(['start'], '/bin/sh')
    await script.wrote('ready: open ')
    const processes = descendants(script.child.pid ?? 0)
    script.child.kill('SIGTERM')
    await script.wrote('app: stopped')
    await script.ended
    await expect.poll(() => processes.filter(isRunning)).toEqual([])
  })

  test('demo serves in a shell that knows no variables, and ends with it', async () => {
    const script = await startScript(['run', 'demo'], plainShell)
    await script.wrote('An API key, valid for a week')
    const processes = descendants(script.child.pid ?? 0)
    script.child.kill('SIGTERM')
    await script.ended
    await expect.poll(() => processes.filter(isRunning)).toEqual([])
  })

  test('test runs in a shell that knows no variables', async () => {
    const script = await startScript(['test', '--', 'test/core/own-value.test.ts', '--project=pure'], plainShell)
    await script.wrote('1 passed')
    await script.ended
  })
})
