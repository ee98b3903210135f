import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DnsServer } from '../../src/core/config.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { ownDatabase } from './postgres.ts'
import { processorTime } from './processor.ts'
import { line, median, title, verdict } from './report.ts'
import { request, type Service, startService } from './service.ts'

const readers = 10_000
/** Addresses per import, because the body of an operation is limited. */
const perImport = 2500
/** The interval of requests for a page and an operation, and the time before the incident, in milliseconds. */
const every = 25
const calm = 6000

/**
 * (g) An incident with 10,000 email subscribers: the time until all deliveries exist, the time until the last email is
 * sent, and the latency for others meanwhile.
 */
export async function notify(dns: DnsServer): Promise<void> {
  await measure('the embedded database', dns)
  const database = await ownDatabase()
  if (typeof database === 'string') return title(`(g) Notifications with a server: skipped (${database})`)
  await measure('PostgreSQL', dns, database.url).finally(() => database.remove())
}

async function measure(where: string, dns: DnsServer, databaseUrl?: string): Promise<void> {
  title(`(g) An incident with ${readers.toLocaleString('en')} mail subscribers, with ${where}`)
  const disk = await temporaryDirectory()
  const sink = await startSink()
  const service = await startService(dns, disk.path, {
    DATABASE_URL: databaseUrl,
    SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
    MAIL_FROM: 'status@allclear.example',
    DEFAULT_TIER: 'team',
  })
  try {
    const page = await fill(service)
    const before = await usageOf(service)
    const quiet = await sample(service, page, sleep(calm))
    const used = (await usageOf(service)).cpu
    const begun = performance.now()
    await page.reportIncident()
    const reported = performance.now() - begun
    let made = 0
    const rows = (async () => {
      while ((await page.deliveries()) < readers) await sleep(10)
      made = performance.now() - begun
    })()
    const busy = await sample(service, page, sink.received(readers))
    const sent = performance.now() - begun
    await rows
    const after = await usageOf(service)
    line(`the incident is created after ${reported.toFixed(0)} ms, all deliveries exist after ${made.toFixed(0)} ms`)
    line(
      `the last mail is handed over after ${(sent / 1000).toFixed(1)} s: ${((readers / sent) * 1000).toFixed(0)} a second`,
    )
    line(`resident memory: ${before.memory} MB before, ${after.memory} MB after`)
    line(
      `processor time: ${(((after.cpu - used) / readers) * 1000).toFixed(2)} ms a mail, what else was asked for included`,
    )
    for (const what of ['page', 'operation'] as const) {
      line(`${what}: ${inWords(quiet[what])} before, ${inWords(busy[what])} meanwhile`)
      verdict(`${what}: median meanwhile / before`, median(busy[what]) / median(quiet[what]), { most: 3 })
      verdict(`${what}: slowest meanwhile in ms`, Math.max(...busy[what]), { most: 1000 })
    }
    verdict('seconds to all deliveries', made / 1000, { most: 2 })
    verdict('emails per second', (readers / sent) * 1000, { least: 200 })
    verdict('memory added in MB', after.memory - before.memory, { most: 150 })
  } finally {
    await service.stop()
    sink.close()
    await disk.remove()
  }
}

interface Page {
  readonly slug: string
  reportIncident(): Promise<void>
  deliveries(): Promise<number>
}

/** Creates a page with its subscribers. */
async function fill({ port }: Service): Promise<Page> {
  const slug = 'bench'
  const graphql = async (key: string, query: string, variables: object = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, variables }),
    })
    const { data, errors } = (await response.json()) as { data: never; errors?: unknown }
    if (errors) throw new Error(JSON.stringify(errors))
    return data
  }
  const { createOrganization } = (await graphql(
    'token-of-the-bench',
    `mutation { createOrganization(input: { name: "Bench", slug: "${slug}", contactEmail: "a@b.example" }) {
      ... on CreateOrganizationPayload { apiKey { secret } } } }`,
  )) as { createOrganization: { apiKey: { secret: string } } }
  const key = createOrganization.apiKey.secret
  for (let from = 0; from < readers; from += perImport) {
    const csv = Array.from({ length: perImport }, (_, each) => `reader${from + each}@a.example`).join('\n')
    await graphql(key, 'mutation ($csv: String!) { importSubscribers(input: { csv: $csv }) { __typename } }', { csv })
  }
  return {
    slug,
    async reportIncident() {
      await graphql(
        key,
        'mutation { createIncident(input: { title: "Slow answers", status: INVESTIGATING, impact: MAJOR, message: "We **look** into it." }) { __typename } }',
      )
    },
    async deliveries() {
      const data = (await graphql(key, '{ organization { deliveries(first: 1) { totalCount } } }')) as {
        organization: { deliveries: { totalCount: number } }
      }
      return data.organization.deliveries.totalCount
    },
  }
}

interface Sample {
  readonly page: number[]
  readonly operation: number[]
}

/** Measures the latency of a page and an operation in milliseconds, repeatedly until something has happened. */
async function sample({ port }: Service, { slug }: Page, until: Promise<unknown>): Promise<Sample> {
  const taken: Sample = { page: [], operation: [] }
  const paths = {
    page: `/status/${slug}`,
    operation: `/graphql?query=${encodeURIComponent(`{ statusPage(slug: "${slug}") { status { description } services { name status } incidents { title updates { nodes { message } } } } }`)}`,
  }
  let over = false
  void until.then(() => {
    over = true
  })
  const running: Promise<void>[] = []
  while (!over) {
    for (const what of ['page', 'operation'] as const) {
      const begun = performance.now()
      running.push(
        request(port, paths[what]).then(({ status }) => {
          if (status !== 200) throw new Error(`The ${what} was answered with ${status}`)
          taken[what].push(performance.now() - begun)
        }),
      )
    }
    await sleep(every)
  }
  await Promise.all(running)
  return taken
}

/** An SMTP server that accepts and discards all emails, with the minimum of the protocol. */
async function startSink() {
  let count = 0
  const waiting = new Set<() => void>()
  const taken = () => {
    count += 1
    for (const check of waiting) check()
  }
  const server = createServer((socket) => {
    const answer = commands(taken)
    socket.on('error', () => undefined)
    socket.write('220 sink\r\n')
    createInterface(socket).on('line', (text) => socket.write(answer(text)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    // A server that listens on an address has one with a port.
    port: (server.address() as AddressInfo).port,
    received: (wanted: number) =>
      new Promise<void>((resolve) => {
        waiting.add(() => count >= wanted && resolve())
      }),
    close: () => server.close(),
  }
}

/** Answers to each line of a client; most lines of an email get none. */
function commands(taken: () => void): (text: string) => string {
  let inMail = false
  return (text) => {
    if (inMail && text !== '.') return ''
    if (inMail) taken()
    inMail = !inMail && text.toUpperCase() === 'DATA'
    return inMail ? '354 go on\r\n' : '250 ok\r\n'
  }
}

/** Megabytes of memory and seconds of processor time of the process. */
async function usageOf({ pid }: Service): Promise<{ memory: number; cpu: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const { mainThread, otherThreads } = await processorTime(pid)
  return {
    memory: Math.round((1024 * Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0)) / 1e6),
    cpu: (mainThread + otherThreads) / 1e6,
  }
}

function inWords(milliseconds: readonly number[]): string {
  const sorted = milliseconds.toSorted((left, right) => left - right)
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0
  return `median ${median(sorted).toFixed(1)}, 99 % ${p99.toFixed(1)}, longest ${(sorted.at(-1) ?? 0).toFixed(1)} ms`
}
