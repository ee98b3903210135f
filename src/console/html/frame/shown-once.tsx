/**
 * Renders a secret that is shown only once, with a button that copies it, which needs a script. Without one, a click
 * selects all of it.
 */
export function ShownOnce({ text, about }: { readonly text: string; readonly about: string }) {
  return (
    <div class="shown-once">
      <p class="secret" data-once>
        {text}
      </p>
      <button type="button" class="quiet" data-copy aria-label={`Copy: ${about}`} hidden>
        Copy
      </button>
    </div>
  )
}
