import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { decode, encode, RECURSION_DESIRED } from 'dns-packet'
import { blacklists, queryName } from '../../src/blacklist/list.ts'
import { reversedLabels } from '../../src/core/ip-address.ts'
import { answer, type Behaviour, rcodes, soa, startDnsServer } from '../support/dns-server.ts'
import { line, median, title, verdict } from './report.ts'
import { checkPath, request, type Service, startService, warmedUp } from './service.ts'
import { callers, scatteredAddresses } from './targets.ts'

const listDelay = 50
const queryDeadline = 3000
const slowTargets = 40
const holedTargets = 5
const ipLists = blacklists(undefined).filter((list) => list.kind === 'ip')
const holed = 'psbl.surriel.com'

/**
 * (a) How long a cold check takes, compared with the slowest list, and with the query deadline when one list does not
 * answer.
 */
export async function latency(dataDir: string): Promise<void> {
  const server = await startDnsServer(listsAnswering)
  const service = await startService(server, dataDir, { DNS_TIMEOUT_MS: String(queryDeadline) })
  try {
    await warmedUp(service)
    server.behave((query) => sleep(listDelay).then(() => listsAnswering(query)))
    await slowLists(service, server.port)
    server.behave((query) => (query.name.endsWith(holed) ? [] : sleep(listDelay).then(() => listsAnswering(query))))
    await blackHole(service)
  } finally {
    await service.stop()
    await server.close()
  }
}

const targets = scatteredAddresses()
const caller = callers()

async function slowLists(service: Service, dnsPort: number): Promise<void> {
  title(`(a) Cold IP check over REST, every list answering after ${listDelay} ms, ${slowTargets} targets`)
  const checks: number[] = []
  const slowest: number[] = []
  for (let round = 0; round < slowTargets; round++) {
    checks.push(await timeOfCheck(service))
    slowest.push(await timeOfBareQueries(dnsPort, targets.next().value))
  }
  line(`slowest of six bare queries: ${spread(slowest)}`)
  line(`check: ${spread(checks)}`)
  verdict('median check / median slowest list', median(checks) / median(slowest), { most: 1.2 })
  verdict('slowest check / median slowest list', Math.max(...checks) / median(slowest), { most: 1.2 })
}

async function blackHole(service: Service): Promise<void> {
  title(`(a) The same with one list a black hole, query deadline ${queryDeadline} ms, ${holedTargets} targets`)
  const checks: number[] = []
  for (let round = 0; round < holedTargets; round++) checks.push(await timeOfCheck(service))
  line(`check: ${spread(checks)}`)
  verdict('slowest check / query deadline', Math.max(...checks) / queryDeadline, { most: 1.1 })
}

async function timeOfCheck(service: Service): Promise<number> {
  const begun = performance.now()
  const { status } = await request(service.port, checkPath(targets.next().value), caller.next().value)
  if (status !== 200) throw new Error(`A check was answered with ${status}`)
  return performance.now() - begun
}

/** Milliseconds until the six lists have answered bare queries. */
async function timeOfBareQueries(port: number, target: string): Promise<number> {
  const socket = createSocket('udp4')
  const begun = performance.now()
  const waiting = new Set<number>()
  socket.on('message', (message) => {
    waiting.delete(decode(message).id ?? -1)
    if (waiting.size === 0) socket.close()
  })
  for (const [id, list] of ipLists.entries()) {
    waiting.add(id)
    const questions = [{ name: queryName(list, reversedLabels(target)), type: 'A' as const }]
    socket.send(encode({ type: 'query', id, flags: RECURSION_DESIRED, questions }), port, '127.0.0.1')
  }
  await once(socket, 'close')
  return performance.now() - begun
}

/** Healthy lists: they have their test entries, and no others. */
const listsAnswering: Behaviour = (query) => {
  if (query.name.startsWith('2.0.0.127.')) return answer(query, [`127.0.0.${query.name.includes('surbl') ? 254 : 2}`])
  return { rcode: rcodes.nxdomain, authorities: [soa('lists.test', 300, 150)] }
}

function spread(milliseconds: readonly number[]): string {
  return `median ${median(milliseconds).toFixed(1)} ms, longest ${Math.max(...milliseconds).toFixed(1)} ms`
}
