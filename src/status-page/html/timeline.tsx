import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import { plainText } from '../../core/markdown/markdown.ts'
import type { Catalogue } from '../../language/catalogue.ts'
import { wordsOf } from '../../language/catalogue.ts'
import { isPicture } from '../../status/incident/file-content.ts'
import type { TimelineFile, TimelineUpdate } from '../../status/timeline/timeline-reader.ts'
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

interface PagingProps {
  readonly updates: readonly { readonly id: string }[]
  /** The number of all updates. */
  readonly updateCount: number
  /** Whether there are updates older than those shown. */
  readonly hasOlder: boolean
  readonly path: string
  readonly words: Catalogue
}

/** Renders the links to older updates and to the newest ones of a timeline that does not show all of them. */
export function TimelinePaging({ updates, updateCount, hasOlder, path, words: { incident: words } }: PagingProps) {
  if (updates.length >= updateCount) return null
  return (
    <nav class="paging" aria-label={words.timeline}>
      {hasOlder ? <a href={`${path}?before=${updates.at(-1)?.id}`}>{words.olderUpdates}</a> : null}
      <a href={path}>{words.toNewest(updateCount)}</a>
    </nav>
  )
}

interface MessageProps {
  readonly body: string | null
  readonly path: string | null
  /** Those of the console by default. */
  readonly words?: Catalogue
  readonly own?: PageContext['ownersText']
}

/**
 * Renders the text of an update from HTML. Links to `path` if the text was not read; `path` null: it is too long for
 * any page.
 */
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

/**
 * Renders the files of an update: pictures with their descriptions, and links to the others.
 * @param pathOf returns the address of a file.
 */
export function Files<File extends TimelineFile>({
  files = [],
  pathOf,
  words = wordsOf('EN'),
  own = { dir: 'auto' },
  after,
}: {
  readonly files?: readonly File[] | undefined
  readonly pathOf: (file: File) => string
  /** Those of the console by default. */
  readonly words?: Catalogue
  readonly own?: PageContext['ownersText']
  /** Renders content beside a file; absent: none. */
  readonly after?: (file: File) => Child
}) {
  if (files.length === 0) return null
  return (
    <ul class="files" aria-label={words.incident.files}>
      {files.map((file) => (
        <li>
          {isPicture(file) ? (
            <a href={pathOf(file)}>
              <img
                src={pathOf(file)}
                alt={file.alt}
                width={file.width ?? undefined}
                height={file.height ?? undefined}
                loading="lazy"
                {...own}
              />
            </a>
          ) : (
            <>
              <a href={pathOf(file)} download={file.name}>
                <bdi>{file.name}</bdi>
              </a>{' '}
              <span class="meta">{sizeText(file.size, words)}</span>
            </>
          )}
          {after?.(file)}
        </li>
      ))}
    </ul>
  )
}

/** Formats a size in bytes with a suitable unit: `1.4 MB`. */
function sizeText(bytes: number, { locale }: Catalogue): string {
  const [unit, factor] = sizeUnits.find((each) => bytes >= each[1]) ?? (['byte', 1] as const)
  return new Intl.NumberFormat(locale, { style: 'unit', unit, maximumFractionDigits: 1 }).format(bytes / factor)
}

const sizeUnits = [
  ['megabyte', 1_000_000],
  ['kilobyte', 1000],
] as const

interface TimelineItemProps {
  readonly of: string
  readonly update: TimelineUpdate<string>
  /** The path of the page with the full text, or null. */
  readonly path: string | null
  /** The label and the mark of the update's status. */
  readonly word: string
  readonly mark: Child
  readonly zone: Zone
  readonly words: Catalogue
  readonly own: PageContext['ownersText']
  /** The path below which the files are. */
  readonly files?: string
}

/**
 * Renders one update.
 * @param of the title of its incident or maintenance.
 */
export function TimelineItem({ of, update, path, word: label, mark, zone, words, own, files = '' }: TimelineItemProps) {
  const text = plainText(update.body ?? '')
  const announced = text.length > MAX_ANNOUNCED_LENGTH ? `${text.slice(0, MAX_ANNOUNCED_LENGTH)}…` : text
  return (
    <Part>
      <li id={update.id} data-announce={`${words.sentence(`${of}: ${label}`)} ${announced}`}>
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
        <Files files={update.files} pathOf={({ id }) => `${files}/${id}`} words={words} own={own} />
      </li>
    </Part>
  )
}
