/** Keeps the list of what a form will publish, service by service, and its impact in step with the choices. */
export function listenToPublication(): void {
  document.addEventListener('change', ({ target }) => {
    const fields = target instanceof HTMLSelectElement ? target.closest('.service-statuses') : null
    const list = fields?.querySelector('.publication ul')
    if (!fields || !list) return
    const chosen = [...fields.querySelectorAll<HTMLSelectElement>('.service-status select')].flatMap(itemOf)
    list.replaceChildren(...chosen)
    showImpact(fields)
  })
}

/** Shows the impact of the worst status that the form gives a service. */
function showImpact(fields: Element): void {
  const followed = fields.closest('form')?.querySelector<HTMLElement>('[data-impacts]')
  const shown = followed?.querySelector('b')
  if (!followed || !shown) return
  const impacts: [status: string, name: string][] = JSON.parse(followed.dataset['impacts'] ?? '[]')
  const statuses = [...fields.querySelectorAll<HTMLSelectElement>('.service-status select')].map(({ value }) => value)
  // Statuses ascend: the last one that a service has is the worst.
  shown.textContent = impacts.findLast(([status]) => status === '' || statuses.includes(status))?.[1] ?? ''
}

/** Returns the item of a service that the form names. */
function itemOf(select: HTMLSelectElement): HTMLLIElement[] {
  const option = select.selectedOptions[0]
  const [label] = select.labels
  if (!option || !label || (option.value === '' && select.dataset['stays'] === undefined)) return []
  const item = document.createElement('li')
  item.textContent = `${label.textContent}: ${option.textContent}`
  return [item]
}
