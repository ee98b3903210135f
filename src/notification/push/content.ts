import { z } from 'zod'
import type { Database } from '../../core/context.ts'
import type { Event, Prisma } from '../../generated/prisma/client.ts'
import type { EventKind, IncidentImpact } from '../../generated/prisma/enums.ts'

const schema = z.object({
  title: z.string(),
  body: z.string(),
  /** The path of the console that it opens. */
  path: z.string(),
  /** A notification with the same tag takes the place of an earlier one. */
  tag: z.string(),
})

/** What a browser shows. */
export type PushContent = z.infer<typeof schema>

/** Parses stored content. @throws Error for malformed data, which is a bug. */
export const parseContent = (value: Prisma.JsonValue): PushContent => schema.parse(value)

/** A notification about an event. */
export interface Push {
  readonly content: PushContent
  /** The same for events that bring the same news. */
  readonly key: string
}

/** The maximum number of characters of a title or text: browsers show some 100. */
const MAX_TEXT = 200

/** The organization of an event, as it is named in a notification. */
export interface PushOwner {
  readonly name: string
  readonly slug: string
}

type Build = (db: Database, event: Event) => Promise<{ body: string; path: string; key: string } | null>

const builders: Partial<Record<EventKind, Build>> = {
  INCIDENT_CREATED: ofIncident,
  INCIDENT_UPDATE_POSTED: ofUpdate,
  MONITOR_STATE_CHANGED: ofMonitor,
}

/** The kinds of events of which browsers may be told. */
export const pushedKinds: ReadonlySet<EventKind> = new Set(Object.keys(builders) as EventKind[])

/** Builds the notification about an event; null: it is no news, or its subject is deleted. */
export async function buildPush(db: Database, owner: PushOwner, event: Event): Promise<Push | null> {
  const built = await builders[event.kind]?.(db, event)
  if (!built) return null
  const { body, path, key } = built
  const title = `${owner.name}: ${event.subjectName}`.slice(0, MAX_TEXT)
  const content = { title, body: body.slice(0, MAX_TEXT), path: `/console/${owner.slug}/${path}`, tag: event.subjectId }
  return { content, key }
}

const impactText = {
  NONE: 'without impact',
  MINOR: 'with minor impact',
  MAJOR: 'with major impact',
  CRITICAL: 'with critical impact',
} as const satisfies Record<IncidentImpact, string>

/** Of an incident that a monitor opened, the monitor's own notification tells. */
async function ofIncident(db: Database, { subjectId: id, seq }: Event) {
  const found = await db.incident.findUnique({ where: { id }, select: { automatic: true, status: true, impact: true } })
  if (found === null || found.automatic || found.status === 'RESOLVED') return null
  return { body: `Incident opened ${impactText[found.impact]}.`, path: `incidents/${id}`, key: `${id} ${seq}` }
}

async function ofUpdate(db: Database, { subjectId, updateId, seq }: Event) {
  const found = await db.incidentUpdate.findUnique({
    where: { id: updateId ?? '' },
    select: { status: true, incident: { select: { automatic: true } } },
  })
  if (found === null || found.incident.automatic || found.status !== 'RESOLVED') return null
  return { body: 'Incident resolved.', path: `incidents/${subjectId}`, key: `${subjectId} ${seq}` }
}

/** Tells of the state that a monitor has now: of changes in quick succession, the last. */
async function ofMonitor(db: Database, { subjectId: monitorId }: Event) {
  const [now, before] = await db.monitorInterval.findMany({
    where: { monitorId },
    select: { state: true, startedAt: true, cause: true },
    orderBy: { startedAt: 'desc' },
    take: 2,
  })
  const about = now && { path: `monitors/${monitorId}`, key: `${monitorId} ${now.startedAt.getTime()}` }
  if (about && now.state === 'DOWN') return { ...about, body: now.cause === '' ? 'Down.' : `Down: ${now.cause}` }
  if (about && before?.state === 'DOWN' && (now.state === 'UP' || now.state === 'DEGRADED')) {
    return { ...about, body: now.state === 'UP' ? 'Up again.' : 'Up again, but slow or degraded.' }
  }
  return null
}
