// The service worker of the console: shows notifications, and opens their pages. It stores nothing.

/** The members of a worker's scope that are used here, which the types for pages lack. */
interface WorkerScope {
  readonly registration: ServiceWorkerRegistration
  readonly location: Location
  readonly clients: {
    matchAll(options: { readonly type: 'window' }): Promise<readonly WindowClient[]>
    openWindow(url: string): Promise<unknown>
  }
  addEventListener(type: 'push', listener: (event: Lasting & { readonly data: PushData | null }) => void): void
  addEventListener(
    type: 'notificationclick',
    listener: (event: Lasting & { readonly notification: Notification; readonly action: string }) => void,
  ): void
  addEventListener(type: 'pushsubscriptionchange', listener: (event: Lasting & SubscriptionChange) => void): void
}

interface WindowClient {
  readonly url: string
  focus(): Promise<unknown>
}

/** An event that lasts until its work is done. */
interface Lasting {
  waitUntil(work: Promise<unknown>): void
}

/** The expired subscription and its replacement; browsers leave out either. */
interface SubscriptionChange {
  readonly oldSubscription?: PushSubscription | null
  readonly newSubscription?: PushSubscription | null
}

interface PushData {
  json(): unknown
}

const scope = self as unknown as WorkerScope

scope.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(renew(event)))
scope.addEventListener('push', (event) => event.waitUntil(show(event.data)))

/** Sends the server the replacement of an expired subscription, and creates one if the browser has not. */
async function renew({ oldSubscription, newSubscription }: SubscriptionChange): Promise<void> {
  const key = oldSubscription?.options.applicationServerKey
  const made = newSubscription ?? (key ? await subscribe(key) : null)
  if (made === null) return
  const { endpoint = '', keys = {} } = made.toJSON()
  await fetch('/console/push-subscription', { method: 'POST', body: new URLSearchParams({ endpoint, ...keys }) })
}

const subscribe = (applicationServerKey: ArrayBuffer) =>
  scope.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey })

/** The targets of a notification, as its data. */
interface Paths {
  readonly path: string
  /** The page that acknowledges its alerts. */
  readonly acknowledge?: string
}

/** Options that the types for pages lack. */
type WorkerOptions = NotificationOptions & {
  readonly renotify: boolean
  readonly actions: readonly { readonly action: string; readonly title: string }[]
}

/**
 * Browsers require that every message shows something, even if it cannot be read. A notification that replaces another
 * one rings again.
 */
async function show(data: PushData | null): Promise<void> {
  const { title, body, path, tag, acknowledge } = contentOf(data)
  const paths: Paths = { path, ...(acknowledge !== undefined && { acknowledge }) }
  const actions = acknowledge === undefined ? [] : [{ action: 'acknowledge', title: 'Acknowledge' }]
  const options: WorkerOptions = { body, tag, data: paths, renotify: true, actions }
  await scope.registration.showNotification(title, options)
}

function contentOf(data: PushData | null): Paths & Readonly<Record<'title' | 'body' | 'tag', string>> {
  const shown = { title: 'Allclear', body: 'Something has changed.', path: '/console', tag: 'allclear' }
  try {
    return { ...shown, ...(data?.json() as object) }
  } catch {
    return shown
  }
}

scope.addEventListener('notificationclick', (event) => {
  event.notification.close()
  const { path, acknowledge } = event.notification.data as Paths
  event.waitUntil(open(event.action === 'acknowledge' ? (acknowledge ?? path) : path))
})

/** Opens a page of the console, or focuses it if it is open. */
async function open(path: string): Promise<void> {
  const { origin, href } = new URL(path, scope.location.origin)
  if (origin !== scope.location.origin) return
  const pages = await scope.clients.matchAll({ type: 'window' })
  const page = pages.find(({ url }) => url === href)
  await (page ? page.focus() : scope.clients.openWindow(href))
}
