// Subscribes to the events of a page while it is open.

import { keepSubscribed } from '../../graphql/browser/subscriptions.ts'

/** Updates the page to a newer version if it shows one of the versions of parts in `since`. */
export interface Patch {
  readonly since: readonly string[]
  readonly html: string
}

/** An event of the page's log. */
interface PageEvent {
  readonly cursor: string
  /** Whether events are missing before it. */
  readonly isReload: boolean
  /** Null or absent: the change must be fetched, unless an earlier event included it. */
  readonly patch?: Patch | null
}

interface EventListener {
  /** Returns the position to subscribe from; called for each connection. */
  after(): string
  onConnected(): void
  onEvent(event: PageEvent): void
  /** Called for each message from the server. */
  onAlive(): void
  onDisconnected(): void
}

/** Aliases are short, because each answer contains them. */
const queryOf = (fields: string) =>
  `subscription($slug:String!,$host:String,$language:String,$after:String){event:statusPageChanges(slug:$slug,host:$host,language:$language,after:$after){cursor isReload${fields}}}`

/** Subscribes for as long as the page is open. Only the overview in its default range gets patches. */
export function subscribeToEvents(slug: string, listener: EventListener): void {
  const path = `/status/${slug}`
  const { pathname, search } = location
  const isOnHost = !pathname.startsWith(path)
  // The path of the overview ends here or with a language; the paths of other pages are longer.
  const [isOverview, language = null] =
    /^\/?([a-z]{2}(?:-[a-z]+)?)?$/.exec(isOnHost ? pathname : pathname.slice(path.length)) ?? []
  const hasPatches = isOverview !== undefined && !new URLSearchParams(search).has('range')
  const query = queryOf(hasPatches && 'DecompressionStream' in window ? ' patch{since html}' : '')
  const host = isOnHost ? location.host : null
  const onData = (data: { event: PageEvent }) => listener.onEvent(data.event)
  keepSubscribed({
    ...listener,
    token: new URLSearchParams(search).get('token'),
    subscriptions: () => [{ query, variables: { slug, host, language, after: listener.after() }, onData }],
  })
}
