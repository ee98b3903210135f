// Waits on the page after a payment until the tier has changed, and shows the page anew then.

const after = document.querySelector<HTMLElement>('[data-after]')?.dataset['after'] ?? ''
const changes = new EventSource(`/api/v1/billing/success/live?after=${after}`)
changes.addEventListener('changed', () => {
  changes.close()
  location.reload()
})
