import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { plainText } from '../../core/markdown.ts'
import type { Catalogue } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'
import type { TimelineUpdate } from '../../status/timeline-reader.ts'
import type { Zone } from '../time-format.ts'
import type { PageContext } from './page-layout.tsx'
import { Part } from './parts.tsx'
import { Time } from './time.tsx'

/** The maximum characters of a new update that screen readers announce. */
const MAX_ANNOUNCED_LENGTH = 300

/** Renders the updates of an incident or a maintenance, newest first. */
export function Timeline({ children }: { readonly children: Child }) {
  return <ol class="timeline">{children}</ol>
}

interface MessageProps {
  readonly body: string | null
  readonly path: string | null
  /** Those of the console by default. */
  readonly words?: Catalogue
  readonly own?: PageContext['ownersText']
}

/** Renders the text of an update from HTML. Links to `path` when the text was not read; `path` null: it is too long for any page. */
export function Message({ body, path, words = wordsOf('EN'), own = { dir: 'auto' } }: MessageProps) {
  if (body !== null) {
    return (
      <div class="prose" {...own}>
        {raw(body)}
      </div>
    )
  }
  return <p class="more">{path === null ? words.incident.tooLong : <a href={path}>{words.incident.readUpdate}</a>}</p>
}

interface TimelineItemProps {
  readonly of: string
  readonly update: TimelineUpdate<string>
  /** The path of the page with the whole text; null: there is none. */
  readonly path: string | null
  /** The label and the mark of the update's status. */
  readonly word: string
  readonly mark: Child
  readonly zone: Zone
  readonly words: Catalogue
  readonly own: PageContext['ownersText']
}

/** Renders one update. @param of the title of its incident or maintenance. */
export function TimelineItem({ of, update, path, word: label, mark, zone, words, own }: TimelineItemProps) {
  const text = plainText(update.body ?? '')
  const announced = text.length > MAX_ANNOUNCED_LENGTH ? `${text.slice(0, MAX_ANNOUNCED_LENGTH)}…` : text
  return (
    <Part>
      <li id={update.id} data-announce={`${of}: ${label}. ${announced}`}>
        <p class="meta">
          {mark} <Time at={update.createdAt} zone={zone} ago />
          {update.editedAt ? (
            <>
              {' · '}
              {words.incident.edited(<Time at={update.editedAt} zone={zone} />)}
            </>
          ) : null}
        </p>
        <Message body={update.body} path={path} words={words} own={own} />
      </li>
    </Part>
  )
}
