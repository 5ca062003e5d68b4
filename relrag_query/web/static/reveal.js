// Shows what stood in a record before it was redacted, once its reader has said why.

const form = document.querySelector('form[data-reveal]')
const place = document.getElementById('original')

form?.addEventListener('submit', async (event) => {
  event.preventDefault()
  place.setAttribute('aria-busy', 'true')
  const response = await fetch('/reveal', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ref: form.dataset.reveal, why: form.elements.why.value }),
  })
  place.replaceChildren(...new DOMParser().parseFromString(await response.text(), 'text/html').body.childNodes)
  place.removeAttribute('aria-busy')
  if (response.ok) form.remove()
})
// what was shown is in no copy of the page that the browser keeps
addEventListener('pagehide', () => place?.replaceChildren())
