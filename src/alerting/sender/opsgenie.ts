import { z } from 'zod'
import { cutAtWord } from '../../core/truncate.ts'
import type { AlertChange } from '../../generated/prisma/enums.ts'
import { post } from '../../notification/channel/post.ts'
import { isOver } from './item.ts'
import type { AlertMessage } from './sender.ts'
import { bodyOf, defineSender, secretText } from './sender.ts'

/** https://docs.opsgenie.com/docs/api-overview: accounts in the EU have their own host. */
const hosts = { US: 'api.opsgenie.com', EU: 'api.eu.opsgenie.com' } as const

/**
 * Opsgenie's alert API (https://docs.opsgenie.com/docs/alert-api). The `alias` maps each of our alerts to one of theirs. 202:
 * accepted; 401 and 403: the key is refused; 422: the input is invalid; 429: too many requests. Lengths as documented there.
 */
export const opsgenie = defineSender({
  name: 'Opsgenie',
  kind: 'LIFECYCLE',
  fields: z.object({
    apiKey: secretText(/^[-A-Za-z0-9]{16,64}$/, 'must be the API key of an integration'),
    region: z.enum(['US', 'EU']).default('US'),
  }),
  describe: ({ apiKey, region }) => ({
    label: `${region}, key …${apiKey.slice(-4)}`,
    destination: hosts[region],
    url: null,
  }),
  send({ apiKey, region }, message, tools) {
    const { path, body } = requestOf(message)
    const headers = { authorization: `GenieKey ${apiKey}` }
    const url = `https://${hosts[region]}/v2/alerts${path}`
    return post({ url, body: JSON.stringify(body), headers }, tools, ({ status }) =>
      [400, 401, 403, 404, 422].includes(status) ? 'REFUSED' : null,
    )
  },
})

function requestOf(message: AlertMessage) {
  const { items, title, organization, url } = message
  const [{ alertId, about, change, monitor, state, since, by }] = items
  const note = bodyOf(message, 25_000)
  const step = (name: string) => ({
    path: `/${alertId}/${name}?identifierType=alias`,
    body: { source: 'Allclear', user: by ?? 'Allclear', note },
  })
  if (isOver(items[0])) return step('close')
  if (about === 'ACKNOWLEDGED') return step('acknowledge')
  const body = {
    message: cutAtWord(title, 130),
    alias: alertId,
    description: bodyOf(message, 15_000),
    source: 'Allclear',
    entity: cutAtWord(monitor.name, 512),
    priority: priorities[change],
    tags: [change],
    details: { organization: organization.name, monitor_id: monitor.id, state, since: since.toISOString(), url },
  }
  return { path: '', body }
}

const priorities = {
  DOWN: 'P1',
  LISTED: 'P2',
  WORKER_SILENT: 'P2',
  DEGRADED: 'P3',
  CERTIFICATE: 'P3',
  UNKNOWN: 'P3',
  UP: 'P5',
  DELISTED: 'P5',
  BUDGET_BURNING: 'P3',
  BUDGET_RECOVERED: 'P5',
} as const satisfies Record<AlertChange, string>
