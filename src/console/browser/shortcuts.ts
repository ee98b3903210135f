// Keyboard shortcuts of the console. `?` lists them; they can be turned off there (WCAG 2.2, 2.1.4).

const STORAGE_KEY = 'allclear-shortcuts'

interface Shortcut {
  readonly key: string
  readonly text: string
  run(): void
}

/** Handles shortcuts, except during typing. */
export function listenForShortcuts(): void {
  const shortcuts: readonly Shortcut[] = [
    { key: '/', text: 'Search', run: () => document.querySelector<HTMLInputElement>('main [type=search]')?.focus() },
    { key: 'n', text: 'Now', run: () => follow('now') },
    { key: 'i', text: 'Incidents', run: () => follow('incidents') },
    { key: 'm', text: 'Monitors', run: () => follow('monitors') },
    { key: 's', text: 'Services', run: () => follow('services') },
    { key: 'r', text: 'Report an incident', run: () => open('incidents/new') },
  ]
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    if (event.key === '?') showShortcuts(shortcuts)
    else if (localStorage.getItem(STORAGE_KEY) !== 'off') {
      const shortcut = shortcuts.find(({ key }) => key === event.key)
      if (!shortcut) return
      event.preventDefault()
      shortcut.run()
    }
  })
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, select, textarea, dialog, [contenteditable]') !== null
}

/** Follows the menu's link to a section, if there is one. */
function follow(section: string): void {
  document.querySelector<HTMLAnchorElement>(`.console-menu a[href$="/${section}"]`)?.click()
}

/** Opens a page below the organization's address. */
function open(path: string): void {
  const now = document.querySelector<HTMLAnchorElement>('.console-menu a[href$="/now"]')
  if (now) location.href = now.href.replace(/now$/, path)
}

function showShortcuts(shortcuts: readonly Shortcut[]): void {
  document.querySelector('dialog.shortcuts')?.remove()
  const dialog = document.createElement('dialog')
  dialog.className = 'shortcuts'
  dialog.setAttribute('aria-label', 'Keyboard shortcuts')
  const list = document.createElement('dl')
  for (const { key, text } of [...shortcuts, { key: '?', text: 'This list' }]) {
    list.append(element('dt', key), element('dd', text))
  }
  dialog.append(element('h2', 'Keyboard shortcuts'), list, toggle(dialog), closeButton(dialog))
  // Outside of the body, which live changes patch.
  document.documentElement.append(dialog)
  dialog.onclose = () => dialog.remove()
  dialog.showModal()
}

/** The button that turns the shortcuts on and off. */
function toggle(dialog: HTMLDialogElement): HTMLButtonElement {
  const isOff = localStorage.getItem(STORAGE_KEY) === 'off'
  const button = element('button', isOff ? 'Turn on' : 'Turn off')
  button.className = 'quiet'
  button.onclick = () => {
    localStorage.setItem(STORAGE_KEY, isOff ? 'on' : 'off')
    dialog.remove()
  }
  return button
}

function closeButton(dialog: HTMLDialogElement): HTMLButtonElement {
  const button = element('button', 'Close')
  button.onclick = () => dialog.remove()
  return button
}

function element<K extends keyof HTMLElementTagNameMap>(name: K, text: string): HTMLElementTagNameMap[K] {
  return Object.assign(document.createElement(name), { textContent: text })
}
