import { z } from 'zod'
import { issueMessage } from '../../core/issue-message.ts'
import { cappedText } from '../../core/validation.ts'
import type { AlertChange } from '../../generated/prisma/enums.ts'
import { webhook as channel, postSigned } from '../../notification/channel/standard-webhook.ts'
import type { AlertItem } from './item.ts'
import { defineSender } from './sender.ts'

/** Webhooks as defined by Standard Webhooks 1.0 (https://www.standardwebhooks.com), one message per alert. */
export const webhook = defineSender({
  name: 'Webhook',
  kind: 'MACHINE',
  fields: z.object({
    url: cappedText(4000).transform((text, ctx) => {
      const parsed = channel.address.safeParse(text, { error: issueMessage })
      if (parsed.success) return parsed.data.text
      ctx.addIssue({ code: 'custom', message: parsed.error.issues[0]?.message ?? 'must be a URL' })
      return z.NEVER
    }),
  }),
  describe({ url }) {
    const { label, destination } = channel.address.parse(url)
    return { label, destination, url }
  },
  send: ({ url }, { id, items, acknowledgeUrl, secrets }, tools) =>
    postSigned({ id, url, body: JSON.stringify(eventOf(items[0], acknowledgeUrl)), secrets }, tools),
})

/** The message type of each change (contract §10). */
const types = {
  DOWN: 'monitor.down',
  DEGRADED: 'monitor.degraded',
  UP: 'monitor.up',
  UNKNOWN: 'monitor.unknown',
  CERTIFICATE: 'certificate.expiring',
  LISTED: 'blacklist.listed',
  DELISTED: 'blacklist.delisted',
  WORKER_SILENT: 'worker.silent',
  BUDGET_BURNING: 'objective.burning',
  BUDGET_RECOVERED: 'objective.recovered',
} as const satisfies Record<AlertChange, string>

function eventOf({ alertId, about, change, monitor, state, since, message, at, count }: AlertItem, url: string | null) {
  return {
    type: about === 'TEST' ? 'test' : types[change],
    timestamp: at.toISOString(),
    data: {
      alert: { id: alertId, about: about.toLowerCase(), count },
      ...(change.startsWith('BUDGET_') ? { objective: monitor } : { monitor }),
      state,
      since: since.toISOString(),
      message,
      acknowledge_url: url,
    },
  }
}
