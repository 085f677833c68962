import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { html } from '../../../../lib/extras/dashboard/html.js';

describe('html', () => {
  it('escapes every text, in content and in attributes', () => {
    const label = `<script>alert(1)</script> & "quotes" 'too'`;
    const { text } = html`<p title="${label}">${label}</p>`;
    const escaped = '&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot; &#39;too&#39;';
    expect(text).toBe(`<p title="${escaped}">${escaped}</p>`);
  });

  it('never lets a text end its element or its attribute, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (given) => {
        const { text } = html`<i a="${given}">${given}</i>`;
        expect(text.replace(/&(?:amp|lt|gt|quot|#39);/g, '')).toMatch(/^<i a="[^<>"'&]*">[^<>"'&]*<\/i>$/);
      }),
    );
  });

  it('shows characters that nobody sees, so that one key cannot look like another', () => {
    expect(html`${'/locks/\u202egnp.exe'}`.text).toBe('/locks/\\u202egnp.exe');
    expect(html`${'a\u200bb\u0000c\nd\u2066e\ufeff'}`.text).toBe('a\\u200bb\\u0000c\\u000ad\\u2066e\\ufeff');
  });

  it('leaves what people write in any language as it is', () => {
    expect(html`${'مفتاح, ключ, 鍵, 🔑, e\u0301'}`.text).toBe('مفتاح, ключ, 鍵, 🔑, e\u0301');
  });

  it('takes parts that are HTML as they are, lists of them one behind the other, and nothing for undefined', () => {
    const rows = ['a', '<b>'].map((one) => html`<i>${one}</i>`);
    expect(html`<p>${rows}${undefined}${7}${8n}</p>`.text).toBe('<p><i>a</i><i>&lt;b&gt;</i>78</p>');
  });
});
