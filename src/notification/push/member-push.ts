import type { Context, Database } from '../../core/context.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import type { PushBrowser } from '../../generated/prisma/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { SendResult, SendTools } from '../channel/channel.ts'
import type { PushContent } from './content.ts'
import type { PushAudience } from './queue.ts'
import { browsersIn, queuePush, sealAcknowledgement } from './queue.ts'
import type { PushTools } from './send.ts'
import { sendPush } from './send.ts'
import { vapidKeys } from './vapid.ts'

/** How many browsers get a test. */
const MAX_TESTED = 20

/** A message of an alert channel to the browsers of members. */
interface MemberMessage extends PushAudience {
  readonly alertDeliveryId: string
  /** A queued or shown notification about the same subject is replaced. */
  readonly subjectId: string
  readonly content: Omit<PushContent, 'tag' | 'acknowledge'>
  /** The path of the page that acknowledges its alerts, or null. */
  readonly acknowledgePath: string | null
}

/** Sends messages of alert channels to the browsers of members. */
export interface MemberPush {
  /** Queues a message for each browser. The push worker sends them, each with its own retries. */
  queue(message: MemberMessage): Promise<SendResult>
  /** Sends a message to the browsers now, and returns the responses of their push services. */
  test(message: MemberMessage, outbound: SendTools['outbound']): Promise<SendResult>
}

/** The result for members without a browser. Sending again would not help. */
const noBrowser: SendResult = {
  kind: 'failed',
  status: null,
  message: 'No browser of these members gets notifications. Members turn them on under their name in the console.',
  permanence: 'REFUSED',
  retryAfterMs: null,
}

/** Creates a sender to the browsers of members. */
export function createMemberPush(
  parts: Pick<PushTools, 'now' | 'config' | 'site'> & { readonly db: Database; readonly seal: SecretBox },
): MemberPush {
  const { db, now, seal } = parts
  return {
    async queue({ acknowledgePath, content, ...message }) {
      const { alertDeliveryId, subjectId } = message
      const acknowledge =
        acknowledgePath === null ? {} : { acknowledge: sealAcknowledgement(seal, alertDeliveryId, acknowledgePath) }
      const stored = { ...content, ...acknowledge, tag: subjectId }
      const queued = await queuePush({ db, now }, { ...message, key: alertDeliveryId, content: stored })
      if (queued === 0) return noBrowser
      return { kind: 'delivered', status: null, message: `Queued for ${queued} browser${queued === 1 ? '' : 's'}.` }
    },
    async test({ content, subjectId, ...audience }, outbound) {
      const browsers = await readBrowsers({ db, now }, audience)
      const keys = await vapidKeys({ db, seal })
      const shown = { ...content, tag: subjectId }
      const results = await Promise.all(
        browsers.map(async (browser) => {
          const result = await sendPush({ ...parts, outbound }, keys, browser, shown)
          if (result.kind === 'failed' && result.permanence === 'GONE')
            await db.pushBrowser.deleteMany({ where: { id: browser.id } })
          return { host: browser.host, result }
        }),
      )
      return summaryOf(results)
    },
  }
}

function readBrowsers(
  { db, now }: Pick<Context, 'now'> & { readonly db: Database },
  audience: PushAudience,
): Promise<Pick<PushBrowser, 'id' | 'host' | 'subscription'>[]> {
  return db.$queryRaw`
    SELECT id, host, subscription FROM "PushBrowser" WHERE id IN (${browsersIn(audience, now())})
    ORDER BY "createdAt", id LIMIT ${Prisma.sql`${MAX_TESTED}`}`
}

/** Combines the results of several browsers: delivered if any accepted it, with the response of each. */
function summaryOf(results: readonly { readonly host: string; readonly result: SendResult }[]): SendResult {
  const outcomes = results.flatMap(({ host, result }) => (result.kind === 'postponed' ? [] : [{ host, result }]))
  const [first] = outcomes
  if (first === undefined) return results.length === 0 ? noBrowser : { kind: 'postponed' }
  const best = outcomes.find(({ result }) => result.kind === 'delivered') ?? first
  return { ...best.result, message: outcomes.map(({ host, result }) => `${host}: ${result.message}`).join(' ') }
}
