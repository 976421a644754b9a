// Browser storage that may be switched off, full or broken by hand.
export const read = (area, key) => {
  try {
    return window[area].getItem(key);
  } catch {
    return null;
  }
};

export const write = (area, key, value) => {
  try {
    if (value) window[area].setItem(key, value);
    else window[area].removeItem(key);
  } catch {
    // the text is still in the field
  }
};

export const readList = (area, key) => {
  try {
    const list = JSON.parse(read(area, key));
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
};
