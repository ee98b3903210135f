import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DnsServer } from '../../src/core/config.ts'
import { ownDatabase } from './postgres.ts'
import { line, title, verdict } from './report.ts'
import { type Service, sendChecks, startService, warmedUp } from './service.ts'
import { callers, scatteredAddresses } from './targets.ts'

const checks = 10_000
/** How long an idle service rests: V8 releases memory of the start after about a minute. */
const REST_MS = 75_000

/** (d) Resident memory at rest and after checks of 10,000 different addresses, with each kind of database. */
export async function memory(dns: DnsServer, dataDir: string): Promise<void> {
  await measure('the embedded database', { idle: 280, busy: 900 }, dns, dataDir)
  const database = await ownDatabase()
  if (typeof database === 'string') return title(`(d) Memory with a server: skipped (${database})`)
  await measure('PostgreSQL', { idle: 170, busy: 350 }, dns, dataDir, database.url).finally(() => database.remove())
}

async function measure(
  where: string,
  aims: { readonly idle: number; readonly busy: number },
  dns: DnsServer,
  dataDir: string,
  databaseUrl?: string,
) {
  title(`(d) Resident memory after ${checks.toLocaleString('en')} checks of different addresses, with ${where}`)
  const service = await startService(dns, dataDir, { DATABASE_URL: databaseUrl })
  const { idle, busy } = await load(service).finally(() => service.stop())
  verdict('resident memory of the idle process in MB', idle / 1e6, { most: aims.idle })
  verdict('resident memory of the process after the checks in MB', busy / 1e6, { most: aims.busy })
}

async function load(service: Service): Promise<{ readonly idle: number; readonly busy: number }> {
  await warmedUp(service)
  line(`when geo data and lists are ready: ${await describe(service)}`)
  await sleep(REST_MS)
  line(`after ${REST_MS / 1000} s of rest: ${await describe(service)}`)
  const idle = (await residentOf(service.pid)).rss
  await sendChecks(service.port, 32, checks, scatteredAddresses(), callers())
  line(`after the checks: ${await describe(service)}`)
  const { heapTotal, heapUsed, external, arrayBuffers } = await service.memoryUsage()
  const heap = `heap ${inMb(heapTotal)} (${inMb(heapUsed)} used)`
  line(`main thread: ${heap}, buffers ${inMb(arrayBuffers)}, other external ${inMb(external - arrayBuffers)}`)
  return { idle, busy: (await residentOf(service.pid)).rss }
}

async function describe({ pid }: Service): Promise<string> {
  const { rss, anonymous, file } = await residentOf(pid)
  const children = await Promise.all((await childrenOf(pid)).map(async (child) => inMb((await residentOf(child)).rss)))
  return `${inMb(rss)} (anonymous ${inMb(anonymous)}, files ${inMb(file)}); child processes: ${children.join(', ') || 'none'}`
}

/** Bytes of a process in memory: all, private, and mapped from files (Node itself). */
async function residentOf(pid: number): Promise<{ rss: number; anonymous: number; file: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const field = (name: string) => 1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
  return { rss: field('VmRSS'), anonymous: field('RssAnon'), file: field('RssFile') }
}

/** The child processes of all threads of a process. */
async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`)
  const lists = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8')))
  return lists.join(' ').split(/\s+/).filter(Boolean).map(Number)
}

const inMb = (bytes: number) => `${Math.round(bytes / 1e6)} MB`
