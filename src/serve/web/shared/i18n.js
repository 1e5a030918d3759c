// The words of the pages: English and Russian, chosen by the browser or by the reader.

import { pref } from './prefs.js';

export const LANGUAGES = { en: 'English', ru: 'Русский' };

const asked = new URLSearchParams(location.search).get('lang');
const wished = [asked, pref('lang'), ...(navigator.languages ?? [])]
  .filter(Boolean)
  .map((tag) => tag.slice(0, 2).toLowerCase());

/** The language in use. */
export const lang = wished.find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? 'en';

const plural = new Intl.PluralRules(lang);
const words = {};

const loading = new Map();

/** Loads the words of these parts (`page`, `desk`, `tools`) in the language in use, each once. */
export async function loadWords(...parts) {
  await Promise.all(parts.map((part) => {
    if (!loading.has(part)) {
      loading.set(part, fetch(new URL(`../lang/${part}.${lang}.json`, import.meta.url))
        .then((answer) => (answer.ok ? answer.json() : {}))
        .then((more) => Object.assign(words, more), (fault) => { loading.delete(part); throw fault; }));
    }
    return loading.get(part);
  }));
  document.documentElement.lang = lang;
}

/** Whether there are words for this key. */
export function has(key) {
  return Object.hasOwn(words, key);
}

/**
 * The words for a key, with `{name}` filled in from `values`. A key with plural forms is an object by
 * plural class, chosen by `values.n`.
 */
export function t(key, values = {}) {
  let text = Object.hasOwn(words, key) ? words[key] : key;
  if (typeof text === 'object') text = text[plural.select(Number(values.n ?? 0))] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(values, name) ? String(values[name]) : whole));
}

/** A text in several languages, as alerts carry it: ours, else English. */
export function ownText(text) {
  return text?.[lang] || text?.en || '';
}

const clockTime = new Intl.DateTimeFormat(lang, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });

/** The time of day of a moment; nothing where it is not known. */
export function timeOfDay(moment) {
  return Number.isFinite(moment) ? clockTime.format(moment) : '';
}
