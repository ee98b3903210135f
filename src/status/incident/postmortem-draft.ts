import type { IncidentStatus } from '../../generated/prisma/enums.ts'
import type { Catalogue } from '../../language/catalogue.ts'
import { MAX_MESSAGE_LENGTH } from '../timeline/timeline-limits.ts'

/** The facts from which a post-mortem is drafted. */
export interface PostmortemSource {
  readonly title: string
  readonly startedAt: Date
  /** Null while the incident is open. */
  readonly resolvedAt: Date | null
  /** The names of the affected services. */
  readonly services: readonly string[]
  /** Oldest first. */
  readonly updates: readonly {
    readonly status: IncidentStatus
    readonly createdAt: Date
    readonly message: string
  }[]
}

/** The lengths to which messages are cut, tried in turn until the draft is short enough. */
const cuts = [Number.POSITIVE_INFINITY, 500, 150, 0]

/**
 * Drafts a post-mortem in Markdown from the timeline of an incident: sections to write, and the updates with their
 * times. To stay within the length of a message, it cuts long updates and leaves out those in the middle.
 */
export function draftPostmortem(source: PostmortemSource, words: Catalogue, timeZone: string): string {
  const { startedAt, resolvedAt, services, updates, title } = source
  const time = words.date(timeZone, { dateStyle: 'long', timeStyle: 'short' })
  const span = resolvedAt === null ? time(startedAt) : `${time(startedAt)} – ${time(resolvedAt)}`
  const facts = [title, span, ...(services.length === 0 ? [] : [services.join(', ')])].map(asText).join('  \n')
  const { summary, cause, followUp, timeline } = words.incident
  const around = (items: readonly string[]) =>
    [`## ${summary}`, facts, `## ${cause}`, '…', `## ${followUp}`, '…', `## ${timeline}`, ...items].join('\n\n')
  const itemsCutTo = (length: number) =>
    updates.map(({ status, createdAt, message }) =>
      [`**${time(createdAt)} · ${words.incidentStatus[status]}**`, shorten(message, length)]
        .filter((text) => text !== '')
        .join('\n\n'),
    )
  for (const cut of cuts) {
    const draft = around(itemsCutTo(cut))
    if (draft.length <= MAX_MESSAGE_LENGTH) return draft
  }
  const items = itemsCutTo(0)
  // The first and the last updates are the most informative.
  for (let kept = 100; kept > 1; kept = Math.floor(kept / 2)) {
    const half = Math.ceil(kept / 2)
    const draft = around([...items.slice(0, half), '…', ...items.slice(-half)])
    if (draft.length <= MAX_MESSAGE_LENGTH) return draft
  }
  return around([]).slice(0, MAX_MESSAGE_LENGTH)
}

function shorten(message: string, length: number): string {
  const text = message.trim()
  if (text.length <= length) return text
  return length === 0 ? '' : `${text.slice(0, length).trimEnd()}…`
}

/** Escapes Markdown. */
const asText = (text: string) => text.replaceAll(/[\\`*_[\]<>#~|]/g, String.raw`\$&`)
