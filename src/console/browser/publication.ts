/** Keeps the list of what a form will publish, service by service, in step with the choices. */
export function listenToPublication(): void {
  document.addEventListener('change', ({ target }) => {
    const fields = target instanceof HTMLSelectElement ? target.closest('.service-statuses') : null
    const list = fields?.querySelector('.publication ul')
    if (!fields || !list) return
    const chosen = [...fields.querySelectorAll<HTMLSelectElement>('.service-status select')].flatMap(itemOf)
    list.replaceChildren(...chosen)
  })
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
