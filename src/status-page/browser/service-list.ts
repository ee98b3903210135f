// The list of services: remembers which groups are collapsed, and filters services by name.

/** Expands and collapses groups as the reader left them, and remembers what the reader expands and collapses. */
export function rememberFolds(slug: string): void {
  const key = `folds ${slug}`
  const folds = readFolds(key)
  for (const group of document.querySelectorAll<HTMLDetailsElement>('details.group')) {
    group.open = folds[group.id] ?? group.open
  }
  document.addEventListener('click', ({ target }) => {
    const group = target instanceof Element ? target.closest('.group > summary')?.parentElement : null
    if (!(group instanceof HTMLDetailsElement)) return
    // The click toggles it afterwards.
    folds[group.id] = !group.open
    try {
      localStorage.setItem(key, JSON.stringify(folds))
    } catch {
      // Storage is not available.
    }
  })
}

function readFolds(key: string): Record<string, boolean> {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}')
  } catch {
    return {}
  }
}

/** Shows the field that filters services by name. */
export function filterServices(): void {
  const field = document.querySelector<HTMLInputElement>('#filter-text')
  if (!field) return
  field.hidden = false
  field.addEventListener('input', applyFilter)
}

/**
 * Hides services without the text in their names, and groups without remaining services. Call it after every change of
 * the page.
 */
export function applyFilter(): void {
  const wanted = document.querySelector<HTMLInputElement>('#filter-text')?.value.trim().toLowerCase() ?? ''
  const filter = (part: Element, isShown: boolean) => part.toggleAttribute('data-filtered', !isShown)
  for (const service of document.querySelectorAll('.services > li')) {
    filter(service, (service.querySelector('.name')?.textContent ?? '').toLowerCase().includes(wanted))
  }
  for (const group of document.querySelectorAll<HTMLDetailsElement>('details.group')) {
    const isShown = group.querySelector('li:not([data-filtered])') !== null
    filter(group, isShown)
    if (wanted !== '' && isShown) group.open = true
  }
}
