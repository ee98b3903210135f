import { z } from 'zod'
import type { Database } from '../../core/context.ts'
import { cutAtWord } from '../../core/truncate.ts'
import type { KindFor } from '../../event-log/audience.ts'
import { isFor } from '../../event-log/audience.ts'
import type { Event, Prisma } from '../../generated/prisma/client.ts'
import type { IncidentImpact } from '../../generated/prisma/enums.ts'

const schema = z.object({
  title: z.string(),
  body: z.string(),
  /** The console path that it opens. */
  path: z.string(),
  /** A notification with the same tag replaces an earlier one. */
  tag: z.string(),
  /** The path of the page that acknowledges its alerts, sealed while it is stored; absent if there is none. */
  acknowledge: z.string().optional(),
})

/** What a browser shows. */
export type PushContent = z.infer<typeof schema>

/** Parses stored content. @throws Error for malformed data, which is a bug. */
export const parseContent = (value: Prisma.JsonValue): PushContent => schema.parse(value)

/** A notification about an event. */
export interface Push {
  readonly content: PushContent
  /** The same for events that report the same change. */
  readonly key: string
}

/** The maximum length of a title or text; browsers show about 100 characters. */
const MAX_TEXT = 200

/** The organization of an event, as notifications name it. */
export interface PushOwner {
  readonly name: string
  readonly slug: string
}

type Build = (db: Database, event: Event) => Promise<{ body: string; path: string; key: string } | null>

const builders: Readonly<Record<KindFor<'browsers'>, Build>> = {
  INCIDENT_CREATED: ofIncident,
  INCIDENT_UPDATE_POSTED: ofUpdate,
}

/** Builds the notification of an event; null if browsers don't get one, or the subject is deleted. */
export async function buildPush(db: Database, owner: PushOwner, event: Event): Promise<Push | null> {
  const built = isFor('browsers', event.kind) ? await builders[event.kind](db, event) : null
  if (!built) return null
  const { body, path, key } = built
  const title = cutAtWord(`${owner.name}: ${event.subjectName}`, MAX_TEXT)
  const content = {
    title,
    body: cutAtWord(body, MAX_TEXT),
    path: `/console/${owner.slug}/${path}`,
    tag: event.subjectId,
  }
  return { content, key }
}

const impactText = {
  NONE: 'without impact',
  MINOR: 'with minor impact',
  MAJOR: 'with major impact',
  CRITICAL: 'with critical impact',
} as const satisfies Record<IncidentImpact, string>

/** Leaves out incidents that a monitor opened, because the alert of the monitor reports them. */
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
