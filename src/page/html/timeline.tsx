import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { plainText } from '../../markdown.ts'
import type { Entry as EntryOfStory } from '../../status/story.ts'
import type { Zone } from '../zone.ts'
import { Time } from './time.tsx'

/** The most characters of a message that are read aloud when it arrives. */
const SPOKEN = 300

/** What has been said of an incident or a maintenance, newest first. */
export function Timeline({ children }: { readonly children: Child }) {
  return <ol class="timeline">{children}</ol>
}

/** What the owner wrote, in HTML; null: it is at `path`, or too long to be shown where that is null. */
export function Message({ said, path }: { readonly said: string | null; readonly path: string | null }) {
  if (said !== null) {
    return (
      <div class="prose" dir="auto">
        {raw(said)}
      </div>
    )
  }
  return (
    <p class="more">{path === null ? 'This update is too long for this page.' : <a href={path}>Read this update</a>}</p>
  )
}

interface EntryProps {
  readonly of: string
  readonly update: EntryOfStory<string>
  /** Where all of it can be read; null: nowhere. */
  readonly path: string | null
  /** The update's status: its words, and its mark. */
  readonly word: string
  readonly mark: Child
  readonly zone: Zone
}

/** One entry of a timeline; `of` is the title of what it belongs to. */
export function Entry({ of, update, path, word, mark, zone }: EntryProps) {
  const said = plainText(update.said ?? '')
  const spoken = said.length > SPOKEN ? `${said.slice(0, SPOKEN)}…` : said
  return (
    <li id={update.id} data-says={`${of}: ${word}. ${spoken}`}>
      <p class="meta">
        {mark} <Time at={update.createdAt} zone={zone} />
        {update.editedAt ? (
          <>
            {' '}
            · edited <Time at={update.editedAt} zone={zone} />
          </>
        ) : null}
      </p>
      <Message said={update.said} path={path} />
    </li>
  )
}
