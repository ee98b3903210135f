// Runs on the page after a payment: waits until the tier has changed, then reloads the page.

const after = document.querySelector<HTMLElement>('[data-after]')?.dataset['after'] ?? ''
const changes = new EventSource(`/api/v1/billing/success/live?after=${after}`)
changes.addEventListener('changed', () => {
  changes.close()
  location.reload()
})
