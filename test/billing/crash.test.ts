// @slow
import { expect, test } from 'vitest'
import { startDnsServer } from '../support/dns-server.ts'
import { newOrganization, post } from '../support/graphql-client.ts'
import { startService } from '../support/process.ts'
import { testData } from '../support/service-data.ts'
import { checkout } from './events.ts'
import { deliver, stripeSettings } from './setup.ts'

const dns = await startDnsServer()

test.each([
  ['before', 'FREE', 0],
  ['after', 'PRO', 1],
])(
  'a service killed %s the commit and before its response: a redelivered event takes effect once',
  async (stop, tier, changes) => {
    const { dataDir, settings: own, remove } = await testData()
    const settings = { ...stripeSettings, ...own, DATA_DIR: dataDir }
    const first = startService(dns, { ...settings, STOP: stop }, 'billing-child')
    const { id, key } = await newOrganization(await first.ready())
    const event = checkout({ reference: id })
    const answer = deliver(await first.ready(), event, new Date()).then(
      () => 'answered',
      () => 'not answered',
    )
    await first.wrote(`stopped ${stop} the commit`)
    first.signal('SIGKILL')
    expect(await answer).toBe('not answered')
    await first.ended

    const second = startService(dns, settings)
    const url = await second.ready()
    const state = async () => {
      const query = '{ organization { tier events(first: 50) { edges { node { kind } } } } }'
      const { data } = await post(url, { key, query })
      const { organization } = data as unknown as { organization: Seen }
      const kinds = organization.events.edges.map(({ node }) => node.kind)
      return { tier: organization.tier, changes: kinds.filter((kind) => kind === 'TIER_CHANGED').length }
    }
    expect(await state()).toEqual({ tier, changes })
    for (let time = 0; time < 2; time++) {
      const retried = await deliver(url, event, new Date())
      expect([retried.status, await retried.json()]).toEqual([200, { received: true }])
      expect(await state()).toEqual({ tier: 'PRO', changes: 1 })
    }
    second.signal('SIGTERM')
    expect(await second.ended).toEqual({ code: 0, signal: null })
    await remove()
  },
)

interface Seen {
  readonly tier: string
  readonly events: { readonly edges: readonly { readonly node: { readonly kind: string } }[] }
}
