import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { plainText } from '../../markdown.ts'
import { htmlOf } from '../../rendering.ts'
import type { Zone } from '../zone.ts'
import { Time } from './time.tsx'

/** The most characters of a message that are read aloud when it arrives. */
const SPOKEN = 300

/** What has been said of an incident or a maintenance, newest first. */
export function Timeline({ children }: { readonly children: Child }) {
  return <ol class="timeline">{children}</ol>
}

/** What the owner wrote. */
export function Message({ of }: { readonly of: Parameters<typeof htmlOf>[0] }) {
  return (
    <div class="prose" dir="auto">
      {raw(htmlOf(of))}
    </div>
  )
}

interface EntryProps {
  readonly of: string
  readonly update: {
    readonly id: string
    readonly message: string
    readonly html: string | null
    readonly createdAt: Date
    readonly editedAt?: Date | null
  }
  /** The update's status: its words, and its mark. */
  readonly word: string
  readonly mark: Child
  readonly zone: Zone
}

/** One entry of a timeline; `of` is the title of what it belongs to. */
export function Entry({ of, update, word, mark, zone }: EntryProps) {
  const said = plainText(htmlOf(update))
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
      <Message of={update} />
    </li>
  )
}
