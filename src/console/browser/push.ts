// Turns on notifications in this browser (Web Push). The server stores the browser's subscription; the worker shows the
// messages.

/** The address of the worker, whose folder is its scope. */
const WORKER = '/console/push-worker.js'
const SCOPE = '/console/'

/** Shows the form if the browser supports notifications; otherwise it stays hidden. */
export function offerPush(root: ParentNode): void {
  if (!('serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window)) return
  for (const form of root.querySelectorAll<HTMLFormElement>('form[data-push]')) form.hidden = false
}

/** Handles the form: asks the browser first, and sends its subscription. */
export function listenToPush(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement) || form.dataset['push'] === undefined) return
    if (form.dataset['answered'] !== undefined) return
    event.preventDefault()
    void ask(form, form.dataset['push'])
  })
}

async function ask(form: HTMLFormElement, key: string): Promise<void> {
  const problem = form.querySelector<HTMLElement>('#push-problem')
  if (problem) problem.hidden = true
  try {
    const { endpoint, keys } = await subscribe(key)
    for (const [name, value] of Object.entries({ endpoint, ...keys })) {
      const field = form.elements.namedItem(name)
      if (field instanceof HTMLInputElement) field.value = value ?? ''
    }
    form.dataset['answered'] = ''
    form.requestSubmit()
  } catch (error) {
    if (!problem) return
    problem.textContent = messageOf(error)
    problem.hidden = false
  }
}

async function subscribe(key: string): Promise<PushSubscriptionJSON> {
  if ((await Notification.requestPermission()) !== 'granted') throw new DOMException('Refused.', 'NotAllowedError')
  await navigator.serviceWorker.register(WORKER, { scope: SCOPE })
  const { pushManager } = await navigator.serviceWorker.ready
  // Ends a subscription of an earlier session, perhaps of another person.
  await (await pushManager.getSubscription())?.unsubscribe()
  return (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })).toJSON()
}

function messageOf(error: unknown): string {
  const name = error instanceof Error ? error.name : ''
  if (name === 'NotAllowedError') return 'Your browser blocks notifications from this site. Allow them in its settings.'
  if (name === 'AbortError') return 'Your browser could not reach its push service. Try again.'
  return 'Notifications could not be turned on in this browser.'
}
