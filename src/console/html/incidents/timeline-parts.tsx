import type { Child } from 'hono/jsx'
import type { Author } from '../../../status/timeline/authors.ts'
import type { TimelineUpdate } from '../../../status/timeline/timeline-reader.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { Message } from '../../../status-page/html/timeline.tsx'
import type { Screen } from '../frame/screen.tsx'

/** The maximum number of updates per page of a timeline, of their bytes, and of services. */
export const TIMELINE_BOUNDS = { form: 'HTML', updates: 20, bytes: 60_000, services: 100 } as const

/** Returns the displayed name of an author. */
export function authorName({ kind, name }: Author): string {
  if (kind === 'SYSTEM') return 'Monitoring'
  if (kind === 'OPERATOR') return 'The operator'
  if (kind === 'API_KEY') return name === null ? 'An API key' : `API key ${name}`
  return name ?? 'A former member'
}

/** Renders the updates of a timeline, newest first, with links to edit and delete them. */
export function EditableTimeline<S extends string>({
  screen,
  path,
  updates,
  authors,
  mark,
  others = [],
  after,
  actions,
}: {
  readonly screen: Screen
  /** The path of the incident or maintenance below the organization. */
  readonly path: string
  readonly updates: readonly TimelineUpdate<S>[]
  readonly authors: ReadonlyMap<string, Author>
  /** Renders a status. */
  readonly mark: (status: S) => Child
  /** Other items of the timeline: the time, and the rendered item. */
  readonly others?: readonly { readonly at: Date; readonly item: Child }[]
  /** Renders content below the message of an update; absent: none. */
  readonly after?: (update: TimelineUpdate<S>) => Child
  /** Renders additional actions for an update; absent: none. */
  readonly actions?: (update: TimelineUpdate<S>) => Child
}) {
  const items = updates.map((update) => ({
    at: update.createdAt,
    item: (
      <li id={update.id}>
        <p class="meta">
          {mark(update.status)} · <UpdateFacts {...{ screen, update, author: authors.get(update.id) }} />
        </p>
        <Message body={update.body} path={screen.path(`${path}/updates/${update.id}`)} />
        {after?.(update)}
        {screen.may('WRITE') ? (
          <p class="update-actions">
            <a href={screen.path(`${path}/updates/${update.id}`)}>Edit</a>
            {actions?.(update)}
            <a href={screen.path(`${path}/updates/${update.id}/delete`)}>Delete</a>
          </p>
        ) : null}
      </li>
    ),
  }))
  const ordered = [...items, ...others].sort((one, other) => other.at.getTime() - one.at.getTime())
  return (
    <ol class="timeline" id="timeline">
      {ordered.map(({ item }) => item)}
    </ol>
  )
}

function UpdateFacts({
  screen,
  update: { createdAt, editedAt },
  author,
}: {
  readonly screen: Screen
  readonly update: TimelineUpdate<string>
  readonly author: Author | undefined
}) {
  return (
    <>
      {author === undefined ? null : `${authorName(author)} · `}
      <Time at={createdAt} zone={screen.zone} />
      {editedAt === null ? null : (
        <>
          {' · edited '}
          <Time at={editedAt} zone={screen.zone} />
        </>
      )}
    </>
  )
}

/** Renders the link to older updates. */
export function OlderUpdates({
  updates,
  isLast,
  isFirst,
}: {
  readonly updates: readonly { readonly id: string }[]
  /** Whether there are no older ones. */
  readonly isLast: boolean
  /** Whether there are no newer ones. */
  readonly isFirst: boolean
}) {
  if (isLast && isFirst) return null
  return (
    <nav class="pages" aria-label="Timeline">
      {isFirst ? null : <a href="?">Newest updates</a>}
      {isLast ? null : <a href={`?before=${updates.at(-1)?.id}`}>Older updates</a>}
    </nav>
  )
}
