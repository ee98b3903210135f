import { Agent, request } from 'node:http'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { asNewVisitor, type HostileCase, mutate, type Target } from './case.ts'
import { introspection } from './documents.ts'

/** A case of many unread streams of server-sent events, opened before an event occurs. */
function streaming(
  name: string,
  statuses: readonly number[],
  count: number,
  query: (target: Target) => string,
): HostileCase {
  return {
    name: `server-sent events: ${name}`,
    statuses,
    async send(target) {
      const opened: Stream[] = []
      // One after the other, as they arrive over a network.
      for (let n = 0; n < count; n++) opened.push(await open(target.url, query(target)))
      const [id] = target.incidentIds
      for (let n = 0; n < 5; n++) {
        await mutate(target, 'updateIncident', { id, title: `One ${Math.random()}` }, '... on Incident { id }')
      }
      await sleep(100)
      for (const { end } of opened) {
        end()
        await nextTurn()
      }
      return Math.max(...opened.map(({ status }) => status))
    },
  }
}

interface Stream {
  readonly status: number
  end(): void
}

/** Opens a stream without reading it; status 0: it was cut off before it began. */
function open(url: string, query: string): Promise<Stream> {
  const headers = { accept: 'text/event-stream', 'content-type': 'application/json', ...asNewVisitor() }
  const sent = request(`${url}/graphql`, { method: 'POST', headers, agent: new Agent() })
  const end = () => void sent.destroy()
  return new Promise((resolve) => {
    sent.on('response', (answer) => {
      answer.on('error', () => {})
      resolve({ status: answer.statusCode ?? 0, end })
    })
    sent.on('error', () => resolve({ status: 0, end }))
    sent.end(JSON.stringify({ query }))
  })
}

const many = (count: number, of: (index: number) => string) => Array.from({ length: count }, (_, n) => of(n)).join(' ')
const events = (slug: string, fields: string) =>
  `subscription { statusPageEvents(slug: "${slug}") { cursor ${fields} } }`
const long = 'incident { title updates(first: 100) { nodes { message } } }'

/** Documents and streams of server-sent events. */
export const streams: readonly HostileCase[] = [
  streaming('introspection that multiplies', [200, 400], 1, () => introspection),
  streaming('a subscription 500 times', [200, 400], 1, ({ slug }) => {
    return `subscription { ${many(500, (n) => `a${n}: statusPageEvents(slug: "${slug}") { cursor }`)} }`
  }),
  streaming('a field 3,000 times', [200, 400], 1, ({ slug }) =>
    events(
      slug,
      many(3000, (n) => `a${n}: at`),
    ),
  ),
  streaming('500 streams', [200], 500, ({ slug }) => events(slug, '__typename')),
  streaming('200 streams of long events', [200], 200, ({ slug }) => events(slug, long)),
  streaming('200 streams that are not shared', [200], 200, ({ slug }) =>
    events(slug, `a${Math.random().toString(36).slice(2)}: at`),
  ),
  streaming(
    '100 checks',
    [200, 429],
    100,
    () => 'subscription { checkProgress(target: "203.0.113.7") { __typename } }',
  ),
]
