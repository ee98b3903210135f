/** Shows the buttons that copy the text beside them. */
export function offerCopy(root: Document): void {
  for (const button of root.querySelectorAll<HTMLElement>('[data-copy]')) button.hidden = false
}

/** Handles the buttons. */
export function listenToCopy(): void {
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-copy]') : null
    const source = button?.parentElement?.querySelector('.secret')
    if (button && source) void copy(source).then((isCopied) => say(button, isCopied))
  })
}

/** Returns whether the text was copied; otherwise it is selected. Over HTTP, browsers have no clipboard for scripts. */
async function copy(source: Element): Promise<boolean> {
  getSelection()?.selectAllChildren(source)
  try {
    await navigator.clipboard.writeText(source.textContent?.trim() ?? '')
    return true
  } catch {
    return document.execCommand('copy')
  }
}

function say(button: HTMLElement, isCopied: boolean): void {
  const text = isCopied ? 'Copied' : 'Selected: copy it with the keyboard'
  button.textContent = text
  button.removeAttribute('aria-label')
  const announcer = document.getElementById('announcer')
  if (announcer) announcer.textContent = text
}
