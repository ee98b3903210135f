// @slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDnsServer } from '../support/dns-server.ts'
import { type ServiceProcess, startService } from '../support/process.ts'
import { sample } from '../support/runs.ts'
import { scriptedLists } from '../support/scripted-lists.ts'
import { operatorToken, testData } from '../support/service-data.ts'
import type { HostileCase, Target } from './case.ts'
import { corpus } from './corpus.ts'
import { type Measured, measure, measureTogether, targetOf } from './measure.ts'
import { fillOrganization } from './organization.ts'
import { startRegistries } from './registry.ts'
import { hostileZones } from './zone.ts'

/** For a busy machine; `npm run bench hostile` has the limits for an idle one. */
const LONGEST_STALL = 500
const MOST_MEMORY = 300 * 1024 * 1024
/** The number of waiting cases that are sent at once. */
const AT_ONCE = 16

let service: ServiceProcess
/** How the service has ended, and its last output; null: it runs. */
let death: string | null = null
let target: Target & { close(): void }
let registries: Awaited<ReturnType<typeof startRegistries>>
let remove: () => Promise<void>

beforeAll(async () => {
  const data = await testData()
  remove = data.remove
  const filled = await fillOrganization(data.dataDir, data.settings['DATABASE_URL'])
  const dns = await startDnsServer(hostileZones(scriptedLists()))
  // Custom domains require this.
  const BASE_URL = 'https://status.allclear.example'
  const open = {
    BASE_URL,
    TRUST_PROXY: '127.0.0.1',
    ALLOW_PRIVATE_NETWORKS: 'true',
    SIGNUP: 'open',
    ADMIN_TOKEN: operatorToken,
  }
  registries = await startRegistries()
  const settings = { DATA_DIR: data.dataDir, ...open, ...registries.settings, ...data.settings }
  service = startService(dns, settings)
  void service.ended.then(({ code, signal }) => {
    death = `The service ended with ${signal ?? `code ${code}`}:\n${service.output().slice(-8000)}`
  })
  target = await targetOf(await service.ready(), filled)
})

afterAll(async () => {
  target?.close()
  registries?.close()
  service?.signal('SIGKILL')
  await service?.ended
  await remove?.()
})

/**
 * Cases that are sent together when the first of them is tested. Similar ones, which are neighbours, are in different
 * groups.
 */
class Group {
  readonly cases: HostileCase[] = []
  #sent: ReturnType<typeof measureTogether> | null = null

  /** Returns the effects of one case, which include those of its group. */
  async measured(hostile: HostileCase): Promise<Measured> {
    this.#sent ??= measureTogether(this.cases, target)
    const measured = (await this.#sent)[this.cases.indexOf(hostile)]
    if (measured?.status === 'fulfilled') return measured.value
    throw measured?.reason
  }
}

function grouped(cases: readonly HostileCase[]): ReadonlyMap<HostileCase, Group> {
  const groups = Array.from({ length: Math.ceil(cases.length / AT_ONCE) }, () => new Group())
  return new Map(
    cases.map((hostile, index) => {
      const group = groups[index % groups.length] ?? new Group()
      group.cases.push(hostile)
      return [hostile, group]
    }),
  )
}

describe('hostile requests of one caller do not delay others', () => {
  const sent = sample(corpus.filter(({ awaits }) => awaits === undefined))
  const groups = grouped(sent.filter(({ waits }) => waits))
  test.each(sent.map((hostile) => [hostile.name, hostile] as const))('%s', async (_, hostile) => {
    const isHarmless = ({ stalledMs, grownBy }: Measured) => stalledMs < LONGEST_STALL && grownBy < MOST_MEMORY
    let measured = await (groups.get(hostile)?.measured(hostile) ?? measure(hostile, target))
    // On its own it may be harmless, and interference on a busy machine does not repeat.
    for (let again = 0; again < 2 && !isHarmless(measured); again++) measured = await measure(hostile, target)
    expect(hostile.statuses).toContain(measured.status)
    expect(measured.stalledMs).toBeLessThan(LONGEST_STALL)
    expect(measured.grownBy).toBeLessThan(MOST_MEMORY)
  })

  test('the service is healthy afterwards', async () => {
    expect(death).toBeNull()
    expect((await fetch(`${target.url}/healthz`)).status).toBe(200)
  })
})
