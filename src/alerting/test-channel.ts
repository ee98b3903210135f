import { readOrganization } from '../account/organization/organization-queries.ts'
import { consumeHourly } from '../account/quota.ts'
import { requireScope } from '../core/access.ts'
import { RateLimited } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { HOUR } from '../core/time.ts'
import { change } from '../event-log/change.ts'
import { createMemberPush } from '../notification/push/member-push.ts'
import { channelEvent, ownChannel } from './channel.ts'
import type { AlertingContext } from './context.ts'
import { buildMessage } from './message.ts'
import { followMove, sendAlert } from './send.ts'

/** How many tests an organization may send in an hour. */
const MAX_TESTS = 60

/** The provider's response to a test. */
export interface ChannelTest {
  readonly delivered: boolean
  /** The HTTP or SMTP status; null: no response. */
  readonly status: number | null
  /** The outcome in a sentence, or the mail server's message. */
  readonly message: string
  /** The text of the response as one line without secrets; null: none. */
  readonly answer: string | null
}

/**
 * Sends a test to a channel now, even in its quiet times, and returns the provider's response. Requires a key with scope WRITE.
 * @throws NotFound.
 * @throws RateLimited after 60 tests in an hour.
 */
export async function testAlertChannel(ctx: AlertingContext, id: string): Promise<ChannelTest> {
  const organizationId = requireScope(ctx, 'WRITE')
  const channel = await ownChannel(ctx, organizationId, id)
  const organization = await readOrganization(ctx, organizationId)
  const now = ctx.now()
  if (!(await consumeHourly(ctx.usage, `alert tests ${organizationId}`, now, MAX_TESTS)))
    throw new RateLimited('You have sent too many tests. Try again later.', new Date(now.getTime() + HOUR))
  const item = {
    alertId: newId('Alert'),
    about: 'TEST',
    // A test reports a recovery, so that it raises no alarm and leaves no alert open.
    change: 'UP',
    monitor: { id: '', name: 'Test' },
    state: 'UP',
    since: now,
    message: `Alerts of ${organization.name} reach this channel.`,
    at: now,
    count: 1,
    lastedMs: null,
    by: null,
  } as const
  const parts = { delivery: { id: newId('AlertDelivery') }, items: [item], channel, organization } as const
  const push = createMemberPush(ctx)
  const tools = { outbound: ctx.tools.outbound, mailer: ctx.mailer ?? null, now: ctx.now, push }
  const message = buildMessage(parts, ctx.seal, ctx.site.baseUrl, now)
  const { result, answer } = await sendAlert(channel.kind, message, tools, channel.organizationId)
  await followMove(ctx, ctx.seal, channel, result)
  await change(ctx, organizationId, async () => [undefined, channelEvent('ALERT_CHANNEL_TESTED', channel)])
  if (result.kind === 'postponed')
    return {
      delivered: false,
      status: null,
      message: 'Not sent: this host is at its rate limit. Try again later.',
      answer: null,
    }
  const { kind, status, message: said } = result
  return { delivered: kind === 'delivered', status, message: said, answer }
}
