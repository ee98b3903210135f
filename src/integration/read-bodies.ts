import { yieldAfterTimeSlice } from '../core/concurrency/time-slice.ts'
import type { Context } from '../core/context.ts'
import { hashSecret } from '../core/hash-secret.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { SECOND } from '../core/time.ts'
import type { IncomingBody, Integration } from '../generated/prisma/client.ts'
import type { Outbound } from '../network/outbound/outbound.ts'
import { nextAttempt } from '../notification/queue/backoff.ts'
import { pathsOf } from './integration.ts'
import type { Reading } from './kind/incoming.ts'
import { nothing, unreadable } from './kind/incoming.ts'
import { readIncoming } from './kinds.ts'
import { bodyPurpose } from './receive.ts'
import { readSns, topicOf } from './sns.ts'

/** The maximum time for reading a batch. Bodies of SNS need requests, each of which can take seconds. */
const MAX_READ_MS = 20 * SECOND

/** A body to be read again later, because Amazon did not answer for it or for an earlier one of its topic. */
export interface Postponed {
  readonly kind: 'POSTPONED'
  readonly failed: number
  readonly at: Date
  readonly topicHash: string | null
  readonly reason: string
}

/** The dependencies of reading. `random` returns 0 to 1, for jitter. */
interface ReadTools extends Pick<Context, 'db' | 'now'> {
  readonly seal: SecretBox
  readonly outbound: Pick<Outbound, 'request'>
  readonly random: () => number
}

/** Reads stored bodies in order: at least the first, and as many as time allows, in turns with others. Returns their readings. */
export async function readBodies(
  tools: ReadTools,
  integration: Integration,
  bodies: readonly IncomingBody[],
): Promise<(Reading | Postponed)[]> {
  const paths = pathsOf(integration)
  const textOf = ({ id, body }: IncomingBody) => tools.seal.open(body, bodyPurpose(id))
  const until = performance.now() + MAX_READ_MS
  const isSns = integration.kind === 'SNS'
  const waiting = isSns ? await waitingTopics(tools, integration) : new Map<string, Date>()
  const readings: (Reading | Postponed)[] = []
  for (const [index, body] of bodies.entries()) {
    if (index > 0 && performance.now() > until) break
    await yieldAfterTimeSlice(integration.organizationId)
    const reading = isSns
      ? await readFromSns(tools, body, textOf(body), waiting)
      : readIncoming(integration.kind, textOf(body), paths)
    if (reading.kind === 'POSTPONED' && reading.topicHash !== null) waiting.set(reading.topicHash, reading.at)
    readings.push(reading)
  }
  return readings
}

/** Returns the topics with a postponed body, and the time until which each one waits. */
async function waitingTopics({ db, now }: ReadTools, { id: integrationId }: Integration): Promise<Map<string, Date>> {
  const found = await db.incomingBody.groupBy({
    by: ['topicHash'],
    where: { integrationId, status: 'PENDING', topicHash: { not: null }, retryAt: { gt: now() } },
    _max: { retryAt: true },
  })
  return new Map(
    found.flatMap(({ topicHash, _max: { retryAt } }) =>
      topicHash === null || retryAt === null ? [] : [[topicHash, retryAt] as const],
    ),
  )
}

async function readFromSns(
  { outbound, now, random }: ReadTools,
  { failed, receivedAt: createdAt }: IncomingBody,
  text: string,
  waiting: ReadonlyMap<string, Date>,
): Promise<Reading | Postponed> {
  const topic = topicOf(text)
  const topicHash = topic === null ? null : hashSecret(topic)
  const earlier = topicHash === null ? undefined : waiting.get(topicHash)
  if (earlier) return { kind: 'POSTPONED', failed, at: earlier, topicHash, reason: 'Waiting for an earlier message.' }
  const message = await readSns(outbound, text, now())
  switch (message.kind) {
    case 'NOTIFICATION':
      return readIncoming('SNS', message.message, {})
    case 'DONE':
      return nothing(message.note)
    case 'REFUSED':
      return unreadable(message.reason)
    case 'UNREACHABLE': {
      const at = nextAttempt({ createdAt, failed: failed + 1, retryAfterMs: null }, now(), random())
      if (at === null) return unreadable(message.reason)
      return {
        kind: 'POSTPONED',
        failed: failed + 1,
        at,
        topicHash,
        reason: `${message.reason} It will be tried again.`,
      }
    }
  }
}
