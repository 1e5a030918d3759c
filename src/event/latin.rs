//! Names in Latin letters, for tags and lists that go abroad: Cyrillic as chess lists write it, Greek,
//! Georgian and Armenian. A transcription is only offered; the name itself is kept.

/// All letters of the name are Latin.
#[must_use]
pub fn is_latin(name: &str) -> bool {
    name.chars().all(|c| !c.is_alphabetic() || is_latin_letter(c))
}

fn is_latin_letter(c: char) -> bool {
    matches!(c, 'A'..='Z' | 'a'..='z' | 'ª' | 'º' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// The name in Latin letters; `None` where a letter has no transcription here, as in Chinese.
#[must_use]
pub fn latin_name(name: &str) -> Option<String> {
    if is_latin(name) {
        return Some(name.to_owned());
    }
    let mut out = String::with_capacity(name.len() * 2);
    for word in name.split_inclusive(|c: char| !c.is_alphabetic()) {
        transcribe_word(word, &mut out)?;
    }
    Some(out)
}

fn transcribe_word(word: &str, out: &mut String) -> Option<()> {
    let letters: Vec<char> = word.chars().collect();
    let shouting = letters.iter().filter(|c| c.is_alphabetic()).count() > 1
        && letters.iter().all(|c| !c.is_alphabetic() || c.is_uppercase());
    let end = letters.iter().rposition(|c| c.is_alphabetic()).map_or(0, |at| at + 1);
    let mut at = 0;
    while let Some(&c) = letters.get(at) {
        let lower = c.to_lowercase().next().unwrap_or(c);
        let next = letters.get(at + 1).map(|c| c.to_lowercase().next().unwrap_or(*c));
        at += 1;
        if !c.is_alphabetic() || is_latin_letter(c) {
            out.push(c);
            continue;
        }
        // Endings of Russian names: -ий, -ый become -y.
        if matches!((lower, next), ('и' | 'ы', Some('й'))) && at + 1 == end {
            push(out, "y", c.is_uppercase(), shouting);
            at += 1;
            continue;
        }
        // Greek pairs.
        let pair = match (lower, next) {
            ('ο', Some('υ' | 'ύ')) => Some("ou"),
            ('γ', Some('γ')) => Some("ng"),
            _ => None,
        };
        if let Some(pair) = pair {
            push(out, pair, c.is_uppercase(), shouting);
            at += 1;
            continue;
        }
        push(out, letter(lower)?, c.is_uppercase(), shouting);
    }
    Some(())
}

fn push(out: &mut String, latin: &str, upper: bool, shouting: bool) {
    let mut chars = latin.chars();
    if shouting {
        out.extend(latin.chars().map(|c| c.to_ascii_uppercase()));
    } else if let (true, Some(first)) = (upper, chars.next()) {
        out.push(first.to_ascii_uppercase());
        out.push_str(chars.as_str());
    } else {
        out.push_str(latin);
    }
}

#[expect(clippy::match_same_arms, reason = "one table a script")]
fn letter(c: char) -> Option<&'static str> {
    Some(match c {
        // Cyrillic: Russian, Ukrainian, Belarusian, Serbian, Macedonian, Kazakh.
        'а' | 'ә' => "a",
        'б' => "b",
        'в' => "v",
        'г' | 'ґ' | 'ғ' => "g",
        'д' => "d",
        'е' | 'ё' | 'э' => "e",
        'є' => "ye",
        'ж' => "zh",
        'з' => "z",
        'и' | 'і' => "i",
        'ї' => "yi",
        'й' | 'ы' => "y",
        'к' | 'қ' => "k",
        'л' => "l",
        'м' => "m",
        'н' | 'ң' => "n",
        'о' | 'ө' => "o",
        'п' => "p",
        'р' => "r",
        'с' => "s",
        'т' => "t",
        'у' | 'ў' | 'ұ' | 'ү' => "u",
        'ф' => "f",
        'х' => "kh",
        'һ' => "h",
        'ц' => "ts",
        'ч' => "ch",
        'ш' => "sh",
        'щ' => "shch",
        'ъ' | 'ь' | '\u{2bc}' => "",
        'ю' => "yu",
        'я' => "ya",
        'ђ' => "dj",
        'ј' => "j",
        'љ' => "lj",
        'њ' => "nj",
        'ћ' => "c",
        'џ' => "dz",
        'ѓ' => "gj",
        'ќ' => "kj",
        'ѕ' => "dz",
        // Greek.
        'α' | 'ά' => "a",
        'β' => "v",
        'γ' => "g",
        'δ' => "d",
        'ε' | 'έ' => "e",
        'ζ' => "z",
        'η' | 'ή' | 'ι' | 'ί' | 'ϊ' | 'ΐ' => "i",
        'θ' => "th",
        'κ' => "k",
        'λ' => "l",
        'μ' => "m",
        'ν' => "n",
        'ξ' => "x",
        'ο' | 'ό' | 'ω' | 'ώ' => "o",
        'π' => "p",
        'ρ' => "r",
        'σ' | 'ς' => "s",
        'τ' => "t",
        'υ' | 'ύ' | 'ϋ' | 'ΰ' => "y",
        'φ' => "f",
        'χ' => "ch",
        'ψ' => "ps",
        // Georgian.
        'ა' => "a",
        'ბ' => "b",
        'გ' => "g",
        'დ' => "d",
        'ე' => "e",
        'ვ' => "v",
        'ზ' => "z",
        'თ' | 'ტ' => "t",
        'ი' => "i",
        'კ' | 'ქ' => "k",
        'ლ' => "l",
        'მ' => "m",
        'ნ' => "n",
        'ო' => "o",
        'პ' | 'ფ' => "p",
        'ჟ' => "zh",
        'რ' => "r",
        'ს' => "s",
        'უ' => "u",
        'ღ' => "gh",
        'ყ' => "q",
        'შ' => "sh",
        'ჩ' | 'ჭ' => "ch",
        'ც' | 'წ' => "ts",
        'ძ' => "dz",
        'ხ' => "kh",
        'ჯ' => "j",
        'ჰ' => "h",
        // Armenian.
        'ա' => "a",
        'բ' => "b",
        'գ' => "g",
        'դ' => "d",
        'ե' | 'է' | 'ը' => "e",
        'զ' => "z",
        'թ' | 'տ' => "t",
        'ժ' => "zh",
        'ի' => "i",
        'լ' => "l",
        'խ' => "kh",
        'ծ' | 'ց' => "ts",
        'կ' | 'ք' => "k",
        'հ' => "h",
        'ձ' => "dz",
        'ղ' => "gh",
        'ճ' | 'չ' => "ch",
        'մ' => "m",
        'յ' => "y",
        'ն' => "n",
        'շ' => "sh",
        'ո' | 'օ' => "o",
        'պ' | 'փ' => "p",
        'ջ' => "j",
        'ռ' | 'ր' => "r",
        'ս' => "s",
        'վ' | 'ւ' => "v",
        'ֆ' => "f",
        'և' => "ev",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_out_as_chess_lists_write_them() {
        for (name, latin) in [
            ("Кузнецов, Дмитрий", "Kuznetsov, Dmitry"),
            ("Щербакова, Юлия", "Shcherbakova, Yuliya"),
            ("ЖУКОВ, А.", "ZHUKOV, A."),
            ("Артёмьев", "Artemev"),
            ("Παπαδόπουλος, Γιώργος", "Papadopoulos, Giorgos"),
            ("Müller, Zoë", "Müller, Zoë"),
            ("გიორგი", "giorgi"),
        ] {
            assert_eq!(latin_name(name).as_deref(), Some(latin), "{name}");
        }
        assert_eq!(latin_name("諸葛"), None);
        assert!(is_latin("Łukasz Đ. O'Neil") && !is_latin("Ян"));
    }
}
