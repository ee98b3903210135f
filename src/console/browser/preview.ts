/** The pause in typing after which the preview is updated, in milliseconds. */
const QUIET_MS = 300

/** Shows the current input of the form in the preview's frame, with one request at a time. */
export function listenToPreview(): void {
  let timer: number | undefined
  let isBusy = false
  let again = false

  async function follow(form: HTMLFormElement, frame: HTMLIFrameElement): Promise<void> {
    again = isBusy
    if (isBusy) return
    isBusy = true
    const response = await fetch(frame.dataset['from'] ?? '', { method: 'POST', body: new FormData(form) }).catch(
      () => null,
    )
    if (response?.ok) {
      frame.srcdoc = await response.text()
      // Patching the page keeps the input.
      frame.dataset['keep'] = 'typed'
    }
    isBusy = false
    if (again) await follow(form, frame)
  }

  document.addEventListener('input', ({ target }) => {
    const form = target instanceof Element ? target.closest<HTMLFormElement>('.with-preview form') : null
    const frame = form?.parentElement?.querySelector('iframe')
    if (!form || !frame) return
    clearTimeout(timer)
    timer = window.setTimeout(() => void follow(form, frame), QUIET_MS)
  })
}
