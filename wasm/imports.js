// Tells emcc's check for undefined symbols that the package's loader provides this function.
mergeInto(LibraryManager.library, { random() {} });
